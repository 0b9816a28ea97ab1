/** Resolves imports of this package by its name, as in users' programs, to its sources here. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const ROOT = new URL('../../', import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));

registerHooks({
  resolve(specifier, context, next) {
    const entry = /^everthread(\/.*)?$/.exec(specifier);
    const target = entry && exports[`.${entry[1] ?? ''}`];
    if (!target) return next(specifier, context);
    const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    return { url: new URL(source, ROOT).href, shortCircuit: true };
  },
});
