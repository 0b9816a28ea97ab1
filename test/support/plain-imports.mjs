/**
 * Loaded before a worker process of the fault tests, of which a run of all tests starts some two hundred. Node asks the disk about each
 * import statement anew: whether there is such a file, which one it is in truth, to which package it belongs. Our sources name files
 * as they are, and a package means the same in all of them, so loading a worker computes a sixth less.
 */
import { registerHooks } from 'node:module';

const OURS = new URL('../../', import.meta.url).href;
/** What packages and built-in modules were found to be. */
const known = new Map();

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    if (!parentURL.startsWith(OURS) || parentURL.includes('/node_modules/')) return next(specifier, context);
    if (specifier.startsWith('.') && specifier.endsWith('.ts'))
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    if (/^[./]|^file:/.test(specifier)) return next(specifier, context);
    const found = known.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
    known.set(specifier, found);
    return found;
  },
});
