/**
 * quickjs-emscripten in this process: the WebAssembly module is loaded once; runtime, context and evaluation of an ES
 * module are new for each call and disposed of after it, with memory limit, stack limit and interrupt handler set.
 * Strings and bytes cross by its own calls, everything else as JSON, as in its `dump`.
 */
import {
  getQuickJS,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  Scope,
} from 'quickjs-emscripten';
import {
  type Call,
  DEFAULT_MEMORY,
  type Engine,
  type HostFunctions,
  type Outcome,
  withDeadline,
} from '../engine.ts';

const STACK_BYTES = 512 * 1024;

export async function openQuickjs(): Promise<Engine> {
  const module = await getQuickJS();
  return {
    name: 'quickjs',
    async run(call) {
      const scope = new Scope();
      let outcome: Outcome;
      try {
        outcome = await withDeadline(evaluate(module, scope, call), call.deadlineMs);
      } catch (error) {
        outcome = failure(error);
      }
      try {
        scope.dispose();
        return outcome;
      } catch (error) {
        return { ...outcome, message: `${outcome.message}; dispose: ${failure(error).message}` };
      }
    },
    close: async () => undefined,
  };
}

async function evaluate(module: QuickJSWASMModule, scope: Scope, call: Call): Promise<Outcome> {
  const { source, args = [], functions = {}, memoryBytes = DEFAULT_MEMORY, deadlineMs } = call;
  const runtime = scope.manage(module.newRuntime());
  runtime.setMemoryLimit(memoryBytes);
  runtime.setMaxStackSize(STACK_BYTES);
  const endsAt = Date.now() + (deadlineMs ?? Number.POSITIVE_INFINITY);
  runtime.setInterruptHandler(() => Date.now() > endsAt);
  const context = scope.manage(runtime.newContext());
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const pump = () => runJobs(runtime, failed.reject);
  bridge(context, scope, functions, pump);

  const namespace = scope.manage(
    context.unwrapResult(context.evalCode(source, 'code.js', { type: 'module' })),
  );
  let value = scope.manage(context.getProp(namespace, 'default'));
  if (context.typeof(value) === 'function') {
    const handles = args.map((each) => scope.manage(write(context, each)));
    value = scope.manage(context.unwrapResult(context.callFunction(value, context.undefined, ...handles)));
  }
  const settling = context.resolvePromise(value);
  pump();
  const settled = await Promise.race([settling, failed.promise]);
  return { status: 'success', result: read(context, scope.manage(context.unwrapResult(settled))) };
}

function bridge(context: QuickJSContext, scope: Scope, functions: HostFunctions, pump: () => void): void {
  for (const [name, host] of Object.entries(functions)) {
    const handle = context.newFunction(name, (...handles) => {
      const args = handles.map((each) => read(context, each)) as never[];
      const deferred = scope.manage(context.newPromise());
      void (async () => {
        const value = await host(...args);
        if (!deferred.alive) return;
        write(context, value).consume((each) => deferred.resolve(each));
        pump();
      })();
      return deferred.handle;
    });
    handle.consume((each) => context.setProp(context.global, name, each));
  }
}

/** Runs pending jobs: QuickJS continues after an `await` only on request. */
function runJobs(runtime: QuickJSRuntime, fail: (error: unknown) => void): void {
  if (!runtime.alive) return;
  const ran = runtime.executePendingJobs();
  if (!ran.error) return;
  const { error } = ran;
  fail(error.consume((handle) => error.context.dump(handle)));
}

function write(context: QuickJSContext, value: unknown): QuickJSHandle {
  if (value === undefined) return context.undefined;
  if (typeof value === 'number') return context.newNumber(value);
  if (typeof value === 'string') return context.newString(value);
  if (value instanceof Uint8Array) return context.newArrayBuffer(Uint8Array.from(value).buffer);
  return Scope.withScope((scope) => {
    const json = scope.manage(context.getProp(context.global, 'JSON'));
    const parse = scope.manage(context.getProp(json, 'parse'));
    const text = scope.manage(context.newString(JSON.stringify(value)));
    return context.unwrapResult(context.callFunction(parse, json, text));
  });
}

function read(context: QuickJSContext, handle: QuickJSHandle): unknown {
  const type = context.typeof(handle);
  if (type === 'string') return context.getString(handle);
  if (type === 'number') return context.getNumber(handle);
  if (type === 'undefined') return undefined;
  const length = context.getProp(handle, 'byteLength').consume((each) => context.dump(each));
  if (typeof length !== 'number') return context.dump(handle);
  return context.getArrayBuffer(handle).consume(({ value }) => Uint8Array.from(value));
}

function failure(error: unknown): Outcome {
  const { name, message } = (error ?? {}) as { name?: string; message?: string };
  const text = `${name}: ${message}`;
  if (/interrupted/.test(text)) return { status: 'terminated', message: 'interrupted' };
  if (/out of memory/i.test(text)) return { status: 'memory', message: text };
  return { status: 'error', message: text };
}
