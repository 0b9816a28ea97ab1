/**
 * Loaded by `require` of `everthread/testing` if no ES module can be required: Jest with CommonJS, and Node before
 * 20.19.
 */
throw new Error(
  'everthread/testing is an ES module: give the test file the ending .mjs (or "type": "module" to package.json) and run Jest with ' +
    'NODE_OPTIONS=--experimental-vm-modules; see docs/testing.md of everthread.',
);
