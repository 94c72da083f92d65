// node usd_dump.mjs FILE.usda: what tinyusdz, a full USD parser, understood of it, printed as USD again.
import fs from 'node:fs';
import { createRequire } from 'node:module';

// Its WebAssembly is built for browsers; this is as much of one as it asks for.
globalThis.window = globalThis;
process.type = 'renderer';
const { default: init } = await import('tinyusdz/tinyusdz.js');
const wasm = createRequire(import.meta.url).resolve('tinyusdz/tinyusdz.wasm');
const library = await init({ wasmBinary: fs.readFileSync(wasm) });
const bytes = new Uint8Array(fs.readFileSync(process.argv[2]));
const stage = new library.TinyUSDZLoaderNative();
if (!stage.loadFromBinary(bytes, 'file.usda')) throw new Error(`as a scene: ${stage.error()}`);
const layer = new library.TinyUSDZLoaderNative();
if (!layer.loadAsLayerFromBinary(bytes, 'file.usda')) throw new Error(`as a layer: ${layer.error()}`);
process.stdout.write(layer.layerToString());
