/**
 * Code execution: chapter 13 of the runtime spec, clause by clause in the order of its bullets, and what §19 of the
 * definitions adds to it.
 */
import type { Requirement } from './requirement.ts';

type Row = readonly [id: string, level: Requirement['level'], text: string];

const RUNTIME: readonly Row[] = [
  ['13', 'MUST', 'A tool finds runCode in its thread state, and runs end with what they belong to.'],

  ['13.1.1', 'MUST', 'Each call has an isolate of its own; nothing leaks from one call to another.'],
  ['13.1.2', 'MUST', 'globalThis holds the language alone; host APIs exist where the caller gave them.'],
  ['13.1.3', 'MUST', 'Globals of the caller are bindings of the modules, never properties of globalThis.'],
  ['13.1.4', 'MUST', 'Intrinsics are new inside; changing them changes nothing of the host.'],
  ['13.1.5', 'MUST', 'No eval, no code from text, no shared memory, no import() of URLs.'],

  ['13.2.1', 'MUST', 'Bare specifiers mean imports, relative ones modules; all others are a link_error.'],
  ['13.2.2', 'MUST', 'An import is a frozen copy of what was given; its key default is the default export.'],
  ['13.2.3', 'MUST', 'A module is source, evaluated inside.'],
  ['13.2.4', 'MUST', 'import.meta.url is a sandbox: URL; no path of the host shows.'],

  ['13.3.1', 'MUST', 'Primitives cross by value, bigint and undefined among them.'],
  ['13.3.2', 'MUST', 'Data crosses as a deep copy: objects, arrays, collections, dates, bytes.'],
  ['13.3.3', 'MUST', 'Functions cross as proxies that copy arguments and await answers.'],
  ['13.3.4', 'MAY', 'What has an identity is refused with a SerializationError.'],
  ['13.3.5', 'MUST', 'A bridged function shows neither its this nor its closure.'],

  ['13.4.1', 'MUST', 'Memory has an enforced limit, a documented default and a documented ceiling.'],
  ['13.4.2', 'MUST', 'terminate settles the run soon, once, and with the given reason.'],
  ['13.4.3', 'MAY', 'A cap of the runtime ends a run as terminated, and says which.'],
  ['13.4.4', 'MUST', 'No clock ends a run unless the caller wants it.'],

  ['13.5.1', 'MUST', 'After evaluation the named export is read, or the default one.'],
  ['13.5.2', 'MUST', 'A function is called inside, with the given arguments.'],
  ['13.5.3', 'MUST', 'Thenables are awaited until none is left.'],
  ['13.5.4', 'MUST', 'The last value is marshalled into the result.'],
  ['13.5.5', 'MUST', 'A missing export is a link_error.'],
  ['13.5.6', 'MUST', 'Arguments for an export that is not a function, a throw and a rejection are an error.'],

  ['13.6.1', 'MUST', 'Types are stripped before evaluation, by default.'],
  ['13.6.2', 'SHOULD', 'An implementation made for erasure does it.'],
  ['13.6.3', 'MUST', 'No types are checked.'],

  ['13.7.1', 'MUST', 'The program has its own microtask queue.'],
  ['13.7.2', 'MUST', 'There are no timers but bridged ones.'],
  ['13.7.3', 'MUST', 'Top-level await works; a module is complete when its evaluation has settled.'],

  ['13.9.1', 'MUST', 'runCode(source, options?) answers a handle.'],
  ['13.9.2', 'MUST', 'The source is TypeScript by default, and an ES module.'],
  ['13.9.3', 'MUST', 'Specifiers resolve from imports and modules alone.'],
  ['13.9.4', 'MUST', 'Globals stand at module scope, not on globalThis.'],
  ['13.9.5', 'MUST', 'globalThis is isolated.'],
  ['13.9.6', 'MUST', 'Code generation, shared memory and URL imports are rejected.'],
  ['13.9.7', 'MUST', 'The memory limit is enforced, with a status of its own.'],
  ['13.9.8', 'MUST', 'A terminated run settles within 50 ms.'],
  ['13.9.9', 'MUST', 'Values are copied, functions proxied, nothing shared.'],
  ['13.9.10', 'MUST', 'The chosen export is resolved as §13.5 says.'],
  ['13.9.11', 'MUST', 'There are five statuses, and no other.'],
  ['13.9.12', 'MUST', 'A call leaves nothing for the next one, however it ended.'],
  ['13.9.13', 'SHOULD', 'console is captured where the caller gave none.'],
  ['13.9.14', 'SHOULD', "Syntax and link errors tell line and column in the caller's source."],
  ['13.9.15', 'SHOULD', "The execution's abort signal terminates the run."],
];

const DEFINITIONS: readonly Row[] = [
  ['19.1', 'MUST', 'Options have defaults; invalid ones are a link_error of one name, never a throw.'],
  ['19.2', 'MUST', 'The handle is promise-like, never rejects, and shows running and live reports.'],
  ['19.3', 'MUST', 'Each status has its members; every one has reports and logs.'],
  ['19.4', 'MUST', 'Relative lookups try the exact key, extensions, then an index.'],
  ['19.5', 'MUST', 'A memory limit beyond the bounds is clamped, and the overrun names the effective one.'],
];

const named =
  (chapter: string) =>
  ([id, level, text]: Row): Requirement => ({ id: `${chapter} ${id}`, level, text });

export const CODE_EXECUTION: readonly Requirement[] = [
  ...RUNTIME.map(named('runtime')),
  ...DEFINITIONS.map(named('definitions')),
];
