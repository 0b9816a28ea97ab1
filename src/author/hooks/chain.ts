/**
 * Runs the hooks of one kind, one after the other, each on the value that the previous one has left (definitions §9).
 * - A hook that throws, times out or returns an invalid value is logged, and the chain continues with the last valid
 *   value. No hook can fail the work around it, unless its kind allows that (`strict`, `fatal`). The failure of a
 *   guard becomes a value (`fails`): it may have had a reason to refuse.
 * - Hooks receive copies. A hook that changes them and then throws, or returns nothing, has changed nothing.
 * - An abort ends the chain with an error. The work around it is over, and no hook is logged as failed.
 */

import type { HookDefinition, HookMemory, HookName } from '../../core/author/hook.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import { describeThrown } from '../guard/author-fault.ts';
import { runAuthorCode } from '../guard/author-run.ts';
import { createNotes } from '../guard/code-note.ts';
import { withinTime } from '../guard/within-time.ts';
import type { StateDependencies } from '../state/dependencies.ts';
import type { ThreadEnv } from '../state/thread-env.ts';

export interface ChainOptions {
  readonly store: { readonly events: Pick<ThreadStore['events'], 'append'> };
  readonly env: Pick<ThreadEnv, 'redact'>;
  readonly threadId: string;
  /** Key of the work, as in AuthorRun. */
  readonly work: string;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Hooks of all kinds, in the order in which they run. */
  readonly hooks: readonly HookDefinition[];
  readonly report?: StateDependencies['report'];
  /** Returns the state that all hooks share, made when the first of them runs. */
  readonly state: () => Promise<ThreadState>;
  readonly step: () => number | undefined;
  readonly memory: HookMemory;
}

export interface Link<Value> {
  /** Returns the arguments of the hook after the state; the chain copies them. */
  readonly give: (value: Value) => readonly unknown[];
  /** Returns the next value. Throws an error that states what was expected. */
  readonly take: (value: Value, returned: unknown, hook: HookDefinition) => Value | Promise<Value>;
  /** Returns the next value after a failure; default the last valid one. */
  readonly fails?: (value: Value, thrown: unknown, hook: HookDefinition) => Value;
  /** True if the first failure ends the chain and is thrown. */
  readonly strict?: boolean;
  /** Turns what a hook threw into the error that ends the chain without being logged; undefined for an ordinary failure. */
  readonly fatal?: (thrown: unknown, hook: HookDefinition) => Error | undefined;
  /** Returns true if the rest of the chain is skipped. */
  readonly ends?: (value: Value) => boolean;
  /** True if the arguments are passed without copying. */
  readonly live?: boolean;
}

export interface HookChain {
  has(...names: readonly HookName[]): boolean;
  run<Value>(name: HookName, value: Value, link: Link<Value>): Promise<Value>;
  /** Logs a failure. `hook` is null if it cannot be attributed to a single hook. */
  tell(hook: Pick<HookDefinition, 'name' | 'hook'> | null, error: unknown): Promise<void>;
  /** Logs what could not be kept of what hooks or a tool have left. */
  note(text: string): Promise<void>;
}

const ERROR_CHARS = 1000;

export function createChain(options: ChainOptions): HookChain {
  const { store, env, threadId, signal, hooks } = options;
  const reportFailure: HookChain['tell'] = async (hook, error) => {
    try {
      const description = await describeThrown(env, error);
      if (hook) options.report?.({ code: 'hook', name: hook.name, threadId, ...description });
      const named = { id: hook?.name ?? null, hook: hook?.hook ?? null };
      const data = { ...named, ...description, error: description.error.slice(0, ERROR_CHARS) };
      await store.events.append(threadId, { type: 'hook.failed', data, step: options.step() });
    } catch {
      // A log that cannot be written, or a thread that is terminated, must not make things worse.
    }
  };
  return {
    has: (...names) => hooks.some(({ hook }) => names.includes(hook)),
    async run(name, value, link) {
      let current = value;
      for (const hook of hooks) {
        if (hook.hook !== name) continue;
        // Outside of `try`: an unreachable store is not a failure of a hook.
        const state = await options.state();
        try {
          const given = link.give(current);
          const returned = await callHook(options, hook, [
            state,
            ...(link.live ? given : given.map(copyValue)),
          ]);
          current = await link.take(current, returned, hook);
        } catch (thrown) {
          if (signal.aborted) throw toHookAbortedError(signal);
          const fatal = link.fatal?.(thrown, hook);
          if (fatal) throw fatal;
          await reportFailure(hook, thrown);
          if (link.strict) throw thrown;
          if (link.fails) current = link.fails(current, thrown, hook);
        }
        if (link.ends?.(current)) break;
      }
      return current;
    },
    tell: reportFailure,
    note: (text) =>
      createNotes({ store, env, threadId, code: 'hook', name: null, step: options.step() })(text),
  };
}

/** Recognises the error by its name. */
export function isHookAborted(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'HookAborted';
}

function toHookAbortedError(signal: AbortSignal): Error {
  const error = new Error(`The work that hooks belong to was aborted: ${errorMessage(signal.reason)}`);
  return Object.assign(error, { name: 'HookAborted' });
}

/** Runs one hook, until its time limit or an abort. A later outcome is ignored. */
async function callHook(
  { threadId, work, signal, timeoutMs, memory }: ChainOptions,
  hook: HookDefinition,
  given: readonly unknown[],
): Promise<unknown> {
  // Each kind has its own arguments, which its link provides.
  const execute = hook.execute as (...given: readonly unknown[]) => unknown;
  const run = { code: 'hook', name: hook.name, threadId, work } as const;
  const all = hook.memory ? [...given, memory] : given;
  return withinTime(() => runAuthorCode(run, () => execute(...all)), {
    timeoutMs,
    signal,
    aborted: toHookAbortedError,
    late: (ms) => new Error(`The hook "${hook.name}" did not answer within ${ms} ms.`),
  });
}

/** Copies a value, as JSON if it cannot be cloned: a tool may have put anything into a result. */
function copyValue<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    return JSON.parse(JSON.stringify(value)) as T;
  }
}
