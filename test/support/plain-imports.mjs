/**
 * Preloaded into programs that tests start, some three hundred in a full run, to make loading cheaper. For each import
 * statement Node checks on disk whether the file exists, what its real path is, and to which package it belongs. Our
 * sources import files by their exact names, and a package resolves alike in all of them. If the environment names the
 * folders, packages of hundreds of modules are loaded as one file each (`packed-modules.ts`, `packed-sdk.ts`), and so
 * are our sources if the program is packed (`packed-programs.ts`). Loading a worker then takes a third of the
 * computing.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const OURS = new URL('../../', import.meta.url).href;
const SOURCES = `${OURS}src/`;
const SDK = '/node_modules/@temporalio/';
const NATIVE = `${SDK}core-bridge/`;
const { EVERTHREAD_TEST_PACKED: folder, EVERTHREAD_TEST_PROGRAMS: programs } = process.env;
const packed = (file, format) =>
  folder && { url: pathToFileURL(join(folder, file)).href, format, shortCircuit: true };
/** Cache: how names of packages and built-in modules were resolved. */
const known = new Map(folder ? ['kysely', 'zod'].map((name) => [name, packed(`${name}.mjs`, 'module')]) : []);
/** Packed packages that the SDK requires. */
const OF_SDK = [
  'rxjs',
  'rxjs/operators',
  'memfs',
  'unionfs',
  'protobufjs/light',
  'protobufjs/ext/protojson',
  '@grpc/grpc-js',
  'nexus-rpc',
  'uuid',
];
const KNOWN_TO_SDK = new Map(
  folder ? OF_SDK.map((name) => [name, packed(`${name.replaceAll('/', '-')}.cjs`, 'commonjs')]) : [],
);

/** Packed files of Temporal's packages, by name and by URL, without extension. */
const sdk = folder ? JSON.parse(readFileSync(join(folder, 'sdk.json'), 'utf8')) : {};
const PACKED = folder && `${pathToFileURL(folder).href}/`;

function ofSdk(name, conditions) {
  const isRequired = conditions.includes('require');
  return packed(`${sdk[name]}.${isRequired ? 'cjs' : 'mjs'}`, isRequired ? 'commonjs' : 'module');
}

/**
 * Replaces a resolved module of Temporal by its packed file, except in the native part: otherwise the process would
 * hold it twice.
 */
function oneOfBoth(found, conditions) {
  if (!folder || !found.url.includes(SDK) || found.url.includes(NATIVE)) return found;
  if (found.url in sdk) return ofSdk(found.url, conditions);
  throw new Error(`${found.url} is loaded beside the packed one, and is no name of it (packed-sdk.ts).`);
}

/** Packed file of each entry, by the URL of its source; undefined if this program is not packed. */
const entries = readEntries();
const PACK = programs && `${pathToFileURL(programs).href}/`;

function readEntries() {
  if (!programs) return undefined;
  const found = JSON.parse(readFileSync(join(programs, 'entries.json'), 'utf8'));
  if (process.argv[1] === undefined) return undefined;
  const program = pathToFileURL(process.argv[1]).href;
  // Programs outside of the clone import only the entries of the package.
  const isPacked = program === `${OURS}bin/everthread.js` || program in found || !program.startsWith(OURS);
  return isPacked ? found : undefined;
}

/** Resolves a module of our sources: to itself, or to its packed file. */
function source(url) {
  if (!entries) return { url, format: 'module-typescript', shortCircuit: true };
  const file = entries[url];
  if (file) return { url: PACK + file, format: 'module', shortCircuit: true };
  // Otherwise the module would exist twice in this process.
  throw new Error(`${url} is loaded beside a packed program, and is no entry of it (packed-programs.ts).`);
}

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '', conditions } = context;
    if (specifier in sdk) return ofSdk(specifier, conditions);
    if (PACKED && parentURL.startsWith(PACKED) && specifier.startsWith('./'))
      return { url: new URL(specifier, parentURL).href, format: 'commonjs', shortCircuit: true };
    if (folder && specifier === '@grpc/grpc-js' && parentURL.includes(NATIVE))
      return packed('grpc-lazily.cjs', 'commonjs');
    // The sandbox resolves paths of its sources only to read them (src/sandbox/child/link.ts): it loads none.
    if (entries && conditions.includes('require') && !parentURL.includes('/node_modules/'))
      return next(specifier, context);
    if (entries && specifier in entries) return source(specifier);
    if (!parentURL.startsWith(OURS)) {
      const found = oneOfBoth(next(specifier, context), conditions);
      return entries && found.url in entries ? source(found.url) : found;
    }
    const fromPack = entries && parentURL.startsWith(PACK);
    if (fromPack && specifier.startsWith('./'))
      return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
    if (parentURL.includes('/node_modules/') && !fromPack)
      return (
        ((parentURL.includes(SDK) || parentURL.startsWith(PACKED)) && KNOWN_TO_SDK.get(specifier)) ||
        next(specifier, context)
      );
    if (specifier.startsWith('.') && specifier.endsWith('.ts'))
      return source(new URL(specifier, parentURL).href);
    if (specifier.startsWith(SOURCES) && specifier.endsWith('.ts')) return source(specifier);
    if (/^[./]|^file:/.test(specifier)) return oneOfBoth(next(specifier, context), conditions);
    const found = known.get(specifier) ?? {
      ...oneOfBoth(next(specifier, context), conditions),
      shortCircuit: true,
    };
    known.set(specifier, found);
    return found;
  },
});
