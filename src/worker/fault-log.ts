/**
 * Reports faults of author code: each as one line of the worker's log, and stray faults also as an event of the thread.
 * - Nothing is reported before secrets are redacted. If the secrets cannot be read, the message is withheld and the
 *   stack is reduced to files and lines.
 */
import type { Logger } from '@temporalio/common';
import { type AuthorFault, cutStack, framesOf } from '../author/guard/author-fault.ts';
import { type AuthorGuard, guardAuthorCode, type StrayFault } from '../author/guard/author-guard.ts';
import type { AuthorRun } from '../author/guard/author-run.ts';
import type { StateDependencies } from '../author/state/dependencies.ts';
import { readRedactor } from '../author/state/env-place.ts';
import { LIMITS } from '../core/value/limit.ts';
import { errorMessage, errorStack } from '../core/value/thrown.ts';
import type { Redact } from '../store/env/redaction.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

type Sources = Pick<StateDependencies, 'store' | 'registry'>;
/** `spanOf`: where an OpenTelemetry SDK is registered. */
type KnownSources = Sources & { readonly spanOf?: Telemetry['spanOf'] | undefined };
/** Called for each entry, because a worker's logger may be installed after its guard. */
type FindLogger = () => Pick<Logger, 'warn' | 'error'>;

export interface OpenGuard {
  /** Provides the store and the registry: from now on stray faults are redacted and stored with their threads. */
  know(sources: KnownSources): void;
  /** Logs an error that author code threw and that its caller has handled already. */
  report(fault: AuthorFault): void;
  end(): void;
}

export function openGuard(logger: FindLogger): OpenGuard {
  let known: KnownSources | undefined;
  const end = guardAuthorCode(createAuthorGuard(() => known, logger));
  return {
    know(sources) {
      known = sources;
    },
    report({ code, name, threadId, work, error, stack, goesOn }) {
      logger().warn(`The ${code} "${name}" ${goesOn ? 'has a fault' : 'failed'}`, {
        threadId,
        [code]: name,
        error,
        stack,
        ...(work && known?.spanOf?.(threadId, work)),
      });
    },
    end,
  };
}

/** `find` returns undefined until the worker has a store. */
function createAuthorGuard(find: () => Sources | undefined, logger: FindLogger): AuthorGuard {
  return {
    alone: true,
    async stray(fault) {
      const sources = find();
      const thread = await findThread(sources, fault.run);
      if (thread === 'elsewhere') return false;
      const redacted = await redactFault(sources, thread, fault);
      logFault(logger, fault, redacted);
      if (sources && thread) await storeFault(sources, thread, fault, redacted);
      return true;
    },
    unknown(reason) {
      logger().error('A rejection of unknown origin was not handled', {
        error: errorMessage(reason).slice(0, LIMITS.faultChars),
        stack: cutStack(errorStack(reason) ?? ''),
      });
    },
  };
}

/** `elsewhere`: this worker's store does not know the thread. Undefined without a thread or a reachable store. */
async function findThread(
  sources: Sources | undefined,
  { threadId }: AuthorRun,
): Promise<ThreadRecord | 'elsewhere' | undefined> {
  if (threadId === '' || !sources) return undefined;
  try {
    return (await sources.store.threads.get(threadId)) ?? 'elsewhere';
  } catch {
    return undefined;
  }
}

interface FaultText {
  readonly error: string;
  readonly stack: string;
}

async function redactFault(
  sources: Sources | undefined,
  thread: ThreadRecord | undefined,
  { run, thrown }: StrayFault,
): Promise<FaultText> {
  const stack = errorStack(thrown) ?? '';
  const show = (redact: Redact): FaultText => ({
    error: redact(errorMessage(thrown)).slice(0, LIMITS.faultChars),
    stack: cutStack(redact(stack)),
  });
  // No thread: the project is being loaded, and its code has read no secrets of a thread.
  if (run.threadId === '') return show((text) => text);
  try {
    if (sources && thread) return show(await readRedactor(sources, thread));
  } catch {}
  return { error: '[withheld: secrets could not be redacted]', stack: framesOf(stack) };
}

function logFault(logger: FindLogger, { kind, run, last }: StrayFault, { error, stack }: FaultText): void {
  const how = kind === 'rejection' ? 'left a rejection unhandled' : 'threw an error that nothing catches';
  const more = last ? '; further faults of this run are not logged' : '';
  const { code, name, threadId } = run;
  logger().error(`The ${code} "${name}" ${how}${more}`, { threadId, [code]: name, error, stack });
}

async function storeFault(
  { store }: Sources,
  { id }: ThreadRecord,
  { kind, run: { code, name } }: StrayFault,
  fault: FaultText,
): Promise<void> {
  try {
    await store.events.append(id, { type: 'code.stray', data: { code, name, kind, ...fault } });
  } catch {
    // The thread is terminated, or the store is unavailable: the log has it.
  }
}
