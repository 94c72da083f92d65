import { defineConfig } from "vite";

// VIEWER_OUTPUT: where the build puts the page; set by cmake/BuildViewer.cmake.
export default defineConfig({
  build: {
    outDir: process.env["VIEWER_OUTPUT"] ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
});
