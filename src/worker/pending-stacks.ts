/**
 * Runs in a workflow thread, in place of the SDK's record of where pending promises were created, which the Web UI
 * shows as the thread's call stack. The SDK formats a stack for every promise, through the source map, which takes
 * longer than all else that a workflow does. A step creates about forty, and nearly all are settled before any query
 * reads them.
 * - A stack is captured when its promise is created, and formatted only when a query asks for it.
 * S8. Query results equal the SDK's, except that the structured locations end where the text does: before SDK frames.
 */
import v8 from 'node:v8';
import { cutoffStackTrace } from '@temporalio/common';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import type { StackTraceFileLocation } from '@temporalio/workflow';
import type { PromiseStackStore } from '@temporalio/workflow/lib/internals.js';

/** The part of the SDK's activator (its state of a running workflow) used here; both stack queries call the method. */
interface Activator {
  readonly promiseStackStore: PromiseStackStore;
  getStackTraces(): unknown;
}

/** Accessors into the realm of a promise. The realm of workflows has an activator while a workflow runs. */
interface Realm {
  readonly activator: () => Activator | undefined;
  readonly Error: ErrorConstructor;
}

const realms = new WeakMap<FunctionConstructor, Realm>();
const NO_PARENTS: Set<Promise<unknown>> = new Set();

/** Installs the record; call once per thread, before the SDK's own script. */
export function keepPendingStacks(): void {
  Object.assign(globalHandlers, {
    setPromiseHook() {
      const stopPromiseHook = v8.promiseHooks.createHook({ init: track, settled: forget });
      Object.assign(globalHandlers, { stopPromiseHook, promiseHookInstalled: true });
    },
  });
}

function track(promise: Promise<unknown>, parent: Promise<unknown> | undefined): void {
  const realm = realmOf(promise);
  const activator = realm.activator();
  if (activator === undefined || promise === parent) return;
  const { promiseToStack, childToParent } = activator.promiseStackStore;
  // The stack of this error is not formatted until it is read.
  promiseToStack.set(promise, new PendingStack(new realm.Error()));
  childToParent.set(promise, parent ? new Set([parent]) : NO_PARENTS);
  if (!Object.hasOwn(activator, 'getStackTraces')) linkBeforeReading(activator);
}

function forget(promise: Promise<unknown>): void {
  const store = realmOf(promise).activator()?.promiseStackStore;
  store?.childToParent.delete(promise);
  store?.promiseToStack.delete(promise);
}

function realmOf(promise: Promise<unknown>): Realm {
  const compile = promise.constructor.constructor as FunctionConstructor;
  const known = realms.get(compile);
  if (known) return known;
  const realm: Realm = {
    activator: compile('return globalThis.__TEMPORAL_ACTIVATOR__') as Realm['activator'],
    Error: compile('return globalThis.Error')(),
  };
  realms.set(compile, realm);
  return realm;
}

class PendingStack {
  readonly #error: Error;
  #text: string | undefined;
  #locations: StackTraceFileLocation[] = [];

  constructor(error: Error) {
    this.#error = error;
  }

  get formatted(): string {
    this.#text ??= this.#format();
    return this.#text;
  }

  get structured(): StackTraceFileLocation[] {
    return this.formatted ? this.#locations : [];
  }

  #format(): string {
    globalHandlers.currentStackTrace = [];
    // The first line is the name of the error; each following line is a frame.
    const [, ...lines] = (this.#error.stack ?? '').split('\n');
    const frames = lines.map((line, index) => ({
      line,
      location: globalHandlers.currentStackTrace?.[index],
    }));
    const from = frames.findIndex(({ line }) => !HOOK.test(line));
    const kept = cutoffStackTrace(lines.slice(from).join('\n')).split('\n');
    this.#locations = frames
      .slice(from)
      .flatMap(({ line, location }) => (location && kept.includes(line) ? [location] : []));
    return kept.join('\n');
  }
}

/** Frames of the promise hook itself, above the frame that created the promise. */
const HOOK = /^\s+at (track \(.*pending-stacks\.[jt]s|initAll \(node:internal\/promise_hooks):\d+:\d+\)$/;
const AGGREGATION = /^\s+at (Function|Promise)\.(race|all|allSettled|any) \(<anonymous>\)(\n|$)/;
const WITHIN_AGGREGATION = /^\s+at Promise\.then \(<anonymous>\)\n/;

function linkBeforeReading(activator: Activator): void {
  const read = activator.getStackTraces;
  activator.getStackTraces = () => {
    linkAggregations(activator.promiseStackStore);
    return read.call(activator);
  };
}

/** S8: replaces the internal promises that `Promise.all` and the like create per member by the one that they return. */
function linkAggregations({ promiseToStack, childToParent }: PromiseStackStore): void {
  let aggregation: Promise<unknown> | undefined;
  for (const [promise, { formatted }] of promiseToStack) {
    const within = formatted.replace(WITHIN_AGGREGATION, '');
    if (within !== formatted && AGGREGATION.test(within)) {
      // An internal promise whose aggregation has settled is removed without a replacement.
      const parents = childToParent.get(promise) ?? NO_PARENTS;
      promiseToStack.delete(promise);
      childToParent.delete(promise);
      const together = aggregation && promiseToStack.get(aggregation)?.formatted.startsWith(within);
      if (aggregation && together) {
        childToParent.set(aggregation, new Set([...(childToParent.get(aggregation) ?? []), ...parents]));
      }
    } else aggregation = AGGREGATION.test(formatted) ? promise : undefined;
  }
}
