/**
 * Code execution: chapter 13 of the runtime spec, clause by clause in the order of its bullets, and what §19 of the
 * definitions adds to it.
 */
import type { Requirement } from './requirement.ts';

type Row = readonly [id: string, level: Requirement['level'], text: string];

const RUNTIME: readonly Row[] = [
  [
    '13',
    'MUST',
    'A tool finds runCode in its thread state, and a run ends with the execution that started it.',
  ],

  ['13.1.1', 'MUST', 'Each call has its own isolate; nothing leaks from one call to another.'],
  [
    '13.1.2',
    'MUST',
    'globalThis has the language built-ins only; host APIs exist only if the caller passed them.',
  ],
  ['13.1.3', 'MUST', 'Globals of the caller are bindings of the modules, never properties of globalThis.'],
  ['13.1.4', 'MUST', 'Intrinsics are new in the sandbox; changing them changes nothing on the host.'],
  ['13.1.5', 'MUST', 'No eval, no code from strings, no shared memory, no import() of URLs.'],

  [
    '13.2.1',
    'MUST',
    'Bare specifiers resolve to imports, relative ones to modules; all others are a link_error.',
  ],
  ['13.2.2', 'MUST', 'An import is a frozen copy of the given value; its key default is the default export.'],
  ['13.2.3', 'MUST', 'A module is source code, evaluated inside the sandbox.'],
  ['13.2.4', 'MUST', 'import.meta.url is a sandbox: URL and shows no path of the host.'],

  ['13.3.1', 'MUST', 'Primitives are passed by value, including bigint and undefined.'],
  ['13.3.2', 'MUST', 'Objects, arrays, collections, dates and bytes are deep-copied.'],
  ['13.3.3', 'MUST', 'Functions are passed as proxies that copy their arguments and await results.'],
  ['13.3.4', 'MAY', 'Values with an identity are refused with a SerializationError.'],
  ['13.3.5', 'MUST', 'A bridged function exposes neither its this nor its closure.'],

  ['13.4.1', 'MUST', 'Memory has an enforced limit, a documented default and a documented ceiling.'],
  ['13.4.2', 'MUST', 'terminate settles the run promptly, once, with the given reason.'],
  ['13.4.3', 'MAY', 'A limit of the runtime ends a run as terminated and names the limit.'],
  ['13.4.4', 'MUST', 'No timeout ends a run unless the caller sets one.'],

  ['13.5.1', 'MUST', 'After evaluation the named export is read, or the default one.'],
  ['13.5.2', 'MUST', 'A function is called inside the sandbox with the given arguments.'],
  ['13.5.3', 'MUST', 'Thenables are awaited until the value is none.'],
  ['13.5.4', 'MUST', 'The final value is marshalled into the result.'],
  ['13.5.5', 'MUST', 'A missing export is a link_error.'],
  [
    '13.5.6',
    'MUST',
    'Arguments for an export that is not a function, a throw, and a rejection settle as an error.',
  ],

  ['13.6.1', 'MUST', 'Types are stripped before evaluation, by default.'],
  ['13.6.2', 'SHOULD', 'Types are stripped by a type-erasure implementation.'],
  ['13.6.3', 'MUST', 'Types are not checked.'],

  ['13.7.1', 'MUST', 'The program has its own microtask queue.'],
  ['13.7.2', 'MUST', 'There are no timers except bridged ones.'],
  ['13.7.3', 'MUST', 'Top-level await works; a module is complete when its evaluation has settled.'],

  ['13.9.1', 'MUST', 'runCode(source, options?) returns a handle.'],
  ['13.9.2', 'MUST', 'The source is TypeScript by default, and an ES module.'],
  ['13.9.3', 'MUST', 'Specifiers resolve from imports and modules only.'],
  ['13.9.4', 'MUST', 'Globals are bindings at module scope, not on globalThis.'],
  ['13.9.5', 'MUST', 'globalThis is isolated.'],
  ['13.9.6', 'MUST', 'Code generation, shared memory and URL imports are rejected.'],
  ['13.9.7', 'MUST', 'The memory limit is enforced and has its own status.'],
  ['13.9.8', 'MUST', 'A terminated run settles within 50 ms.'],
  ['13.9.9', 'MUST', 'Values are copied and functions are proxied; nothing is shared.'],
  ['13.9.10', 'MUST', 'The chosen export is resolved as §13.5 says.'],
  ['13.9.11', 'MUST', 'There are exactly five statuses.'],
  ['13.9.12', 'MUST', 'A call leaves nothing behind for the next one, however it ended.'],
  ['13.9.13', 'SHOULD', 'console is captured unless the caller passes one.'],
  ['13.9.14', 'SHOULD', "Syntax and link errors give line and column in the caller's source."],
  ['13.9.15', 'SHOULD', "The execution's abort signal terminates the run."],
];

const DEFINITIONS: readonly Row[] = [
  [
    '19.1',
    'MUST',
    'Options have defaults; invalid options settle as a link_error with a fixed name and never throw.',
  ],
  ['19.2', 'MUST', 'The handle is promise-like, never rejects, and exposes running and live reports.'],
  ['19.3', 'MUST', 'Each status has its own fields; every result has reports and logs.'],
  ['19.4', 'MUST', 'Relative lookups try the exact key, extensions, then an index.'],
  ['19.5', 'MUST', 'A memory limit above the maximum is clamped, and the overrun names the effective limit.'],
];

const named =
  (chapter: string) =>
  ([id, level, text]: Row): Requirement => ({ id: `${chapter} ${id}`, level, text });

export const CODE_EXECUTION: readonly Requirement[] = [
  ...RUNTIME.map(named('runtime')),
  ...DEFINITIONS.map(named('definitions')),
];
