"""Paths of the project for the tests of the package."""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def scenes():
    return ROOT / "scenes"


@pytest.fixture
def data():
    return ROOT / "tests" / "data"
