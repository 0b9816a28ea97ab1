/**
 * Runs the hooks of one kind, one after the other, each on what the one before it has left (definitions §9).
 * H1. A hook that throws, takes too long or answers what it must not is told in the log, and the chain goes on with the last
 *     good value. Nothing that a hook does can end a thread, unless its kind says so (`strict`, `fatal`). Of a guard the failure itself
 *     is a value (`fails`): it may have had a reason to refuse.
 * H2. A hook is given copies: one that changes them and then throws, or returns nothing, has changed nothing.
 * H3. An abort ends the chain by a throw: the work around it is over, and no hook is blamed.
 */

import type { HookDefinition, HookName } from '../../core/author/hook.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { tellThrown } from '../author-fault.ts';
import { runAuthorCode } from '../author-run.ts';
import type { StateDependencies } from '../dependencies.ts';
import type { ThreadEnv } from '../thread-env.ts';
import { withinTime } from '../within-time.ts';

export interface ChainOptions {
  readonly store: { readonly events: Pick<ThreadStore['events'], 'append'> };
  readonly env: Pick<ThreadEnv, 'redact'>;
  readonly threadId: string;
  /** As in AuthorRun. */
  readonly work: string;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** In their order, of all kinds. */
  readonly hooks: readonly HookDefinition[];
  readonly report?: StateDependencies['report'];
  /** Made when the first hook runs; one for all of them. */
  readonly state: () => Promise<ThreadState>;
  readonly step: () => number | undefined;
}

export interface Link<Value> {
  /** What the hook is given after the state; copied on the way. */
  readonly give: (value: Value) => readonly unknown[];
  /** The next value. What it throws says what was expected. */
  readonly take: (value: Value, returned: unknown, hook: HookDefinition) => Value | Promise<Value>;
  /** The next value behind a failure; the last good one where absent. */
  readonly fails?: (value: Value, thrown: unknown, hook: HookDefinition) => Value;
  /** The first failure ends the chain and is thrown. */
  readonly strict?: boolean;
  /** Turns what a hook threw into the error that ends the chain without being logged; undefined for an ordinary failure. */
  readonly fatal?: (thrown: unknown, hook: HookDefinition) => Error | undefined;
  /** The rest of the chain is left out. */
  readonly ends?: (value: Value) => boolean;
  /** The arguments are handed over as they are. */
  readonly live?: boolean;
}

export interface HookChain {
  has(...names: readonly HookName[]): boolean;
  run<Value>(name: HookName, value: Value, link: Link<Value>): Promise<Value>;
  /** `hook` is null where no single one can be named. */
  tell(hook: Pick<HookDefinition, 'name' | 'hook'> | null, error: unknown): Promise<void>;
}

const ERROR_CHARS = 1000;

export function createChain(options: ChainOptions): HookChain {
  const { store, env, threadId, signal, hooks } = options;
  const tell: HookChain['tell'] = async (hook, error) => {
    try {
      const told = await tellThrown(env, error);
      if (hook) options.report?.({ code: 'hook', name: hook.name, threadId, ...told });
      const named = { id: hook?.name ?? null, hook: hook?.hook ?? null };
      const data = { ...named, ...told, error: told.error.slice(0, ERROR_CHARS) };
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
        // No hook is to blame for a store that is away.
        const state = await options.state();
        try {
          const given = link.give(current);
          const returned = await call(options, hook, [state, ...(link.live ? given : given.map(copy))]);
          current = await link.take(current, returned, hook);
        } catch (thrown) {
          if (signal.aborted) throw aborted(signal);
          const fatal = link.fatal?.(thrown, hook);
          if (fatal) throw fatal;
          await tell(hook, thrown);
          if (link.strict) throw thrown;
          if (link.fails) current = link.fails(current, thrown, hook);
        }
        if (link.ends?.(current)) break;
      }
      return current;
    },
    tell,
  };
}

/** H3. Known by its name. */
export function isHookAborted(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'HookAborted';
}

function aborted(signal: AbortSignal): Error {
  const error = new Error(`The work that hooks belong to was aborted: ${errorMessage(signal.reason)}`);
  return Object.assign(error, { name: 'HookAborted' });
}

/** One hook, within its time and until somebody aborts it. What it answers after that is ignored. */
async function call(
  { threadId, work, signal, timeoutMs }: ChainOptions,
  hook: HookDefinition,
  given: readonly unknown[],
): Promise<unknown> {
  // Each kind has arguments of its own; the kind's link sees to them.
  const execute = hook.execute as (...given: readonly unknown[]) => unknown;
  const run = { code: 'hook', name: hook.name, threadId, work } as const;
  return withinTime(() => runAuthorCode(run, () => execute(...given)), {
    timeoutMs,
    signal,
    aborted,
    late: (ms) => new Error(`The hook "${hook.name}" did not answer within ${ms} ms.`),
  });
}

/** A tool may have put anything into a result; what cannot be copied as it is, is copied as JSON. */
function copy<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    return JSON.parse(JSON.stringify(value)) as T;
  }
}
