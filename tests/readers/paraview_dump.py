"""Run by a Python that has ParaView: paraview_dump.py OUT.npz FILE... Every time step of every file, as arrays."""

import sys

import numpy as np
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy


def leaves(data):
    if not hasattr(data, "NewIterator"):
        return [data]
    iterator, out = data.NewIterator(), []
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        out.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return out


def main():
    out = {}
    for file in sys.argv[2:]:
        # 5.11 finds no reader for a series by its name alone.
        reader = simple.VTKHDFReader(FileName=file) if "vtkhdf" in file else simple.OpenDataFile(file)
        reader.UpdatePipelineInformation()
        times = list(reader.TimestepValues) if hasattr(reader, "TimestepValues") else []
        out[f"{file}/times"] = np.array(times)
        for step, time in enumerate(times or [0.0]):
            reader.UpdatePipeline(time)
            for part, leaf in enumerate(leaves(servermanager.Fetch(reader))):
                key = f"{file}/{step}/{part}"
                count = leaf.GetNumberOfPoints()
                points = vtk_to_numpy(leaf.GetPoints().GetData()) if count else np.zeros((0, 3))
                out[key + "/points"] = points
                out[key + "/cells"] = np.array([leaf.GetCellType(i) for i in range(leaf.GetNumberOfCells())])
                arrays = leaf.GetPointData()
                for i in range(arrays.GetNumberOfArrays()):
                    array = arrays.GetArray(i)
                    out[f"{key}/{arrays.GetArrayName(i)}"] = vtk_to_numpy(array)
    np.savez(sys.argv[1], **out)


main()
