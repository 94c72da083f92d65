"""Run by Blender: blender -b --python blender_dump.py -- OUT.npz FILE... Vertices and edges, glTF at every key."""

import sys

import bpy
import numpy as np

np.bool = bool  # Blender 3.4's glTF importer asks for it, Debian's numpy no longer has it


def world_points(thing, depsgraph):
    evaluated = thing.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", points)
    matrix = np.array(evaluated.matrix_world)
    return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def load(file):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 100  # the test's run has a frame each 10 ms
    if file.endswith(".obj"):
        bpy.ops.wm.obj_import(filepath=file, forward_axis="Y", up_axis="Z")
        return [0]
    bpy.ops.import_scene.gltf(filepath=file)
    return range(1 + round(max(action.frame_range[1] for action in bpy.data.actions)))


def main():
    words = sys.argv[sys.argv.index("--") + 1 :]
    out = {}
    for file in words[1:]:
        for frame in load(file):
            bpy.context.scene.frame_set(frame)
            depsgraph = bpy.context.evaluated_depsgraph_get()
            for thing in bpy.data.objects:
                if thing.type == "MESH":
                    out[f"{file}/{frame}/{thing.name}/points"] = world_points(thing, depsgraph)
                    out[f"{file}/{frame}/{thing.name}/edges"] = np.array(len(thing.data.edges))
    np.savez(words[0], **out)


main()
