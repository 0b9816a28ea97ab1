/**
 * Loaded before programs that tests start, of which a run of all tests starts some three hundred. Node asks the disk about each
 * import statement anew: whether there is such a file, which one it is in truth, to which package it belongs. Our sources name files
 * as they are, and a package means the same in all of them. Packages of hundreds of modules are loaded as one file each, where the
 * environment names the folder (`packed-modules.ts`). So loading a worker computes a third less.
 */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const OURS = new URL('../../', import.meta.url).href;
const SDK = '/node_modules/@temporalio/';
const { EVERTHREAD_TEST_PACKED: folder } = process.env;
const packed = (file, format) =>
  folder && { url: pathToFileURL(join(folder, file)).href, format, shortCircuit: true };
/** What packages and built-in modules were found to be. */
const known = new Map(folder ? [['kysely', packed('kysely.mjs', 'module')]] : []);
/** Of what the SDK requires. */
const KNOWN_TO_SDK = new Map(
  folder
    ? [
        ['rxjs', packed('rxjs.cjs', 'commonjs')],
        ['rxjs/operators', packed('rxjs-operators.cjs', 'commonjs')],
        ['memfs', packed('memfs.cjs', 'commonjs')],
        ['unionfs', packed('unionfs.cjs', 'commonjs')],
      ]
    : [],
);

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    if (!parentURL.startsWith(OURS)) return next(specifier, context);
    if (parentURL.includes('/node_modules/'))
      return (parentURL.includes(SDK) && KNOWN_TO_SDK.get(specifier)) || next(specifier, context);
    if (specifier.startsWith('.') && specifier.endsWith('.ts'))
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    if (/^[./]|^file:/.test(specifier)) return next(specifier, context);
    const found = known.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
    known.set(specifier, found);
    return found;
  },
});
