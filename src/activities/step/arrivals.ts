/** What signals and updates have brought to a thread's workflow, as it is stored: queued items, a cancel request, an answer. */

import type { CancelVerdict } from '../../core/governance/cancellation.ts';
import type { ActivityOutcome } from '../../core/thread/activities.ts';
import { type QueueItem, type Refusal, refuseContent } from '../../core/thread/item.ts';
import type {
  AnswerWaitInput,
  CancelExecutionInput,
  StashInput,
  WaitAnswerOutcome,
} from '../../core/thread/step.ts';
import { errorMessage } from '../../core/value/error.ts';
import { asksForSecrets } from '../../core/wait/wait.ts';
import type { SpillItems } from '../../store/message/message-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { FromRun } from '../../store/transaction/from-run.ts';
import { wakeAfter } from '../../workflows/messages.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fromRun } from '../base/run-ref.ts';
import { openThreadSignals } from '../signals/thread-signals.ts';

type SpillStore = { readonly queue: Pick<ThreadStore['queue'], 'spill'> };

/**
 * Hands queued items to the store. An item that the store cannot take must not block those behind it: the batch is
 * halved until that item is alone, and it becomes an event `item.rejected`. After any other fault, such as an
 * unreachable store, the activity is retried like any commit. Items that were stored before a half failed are stored
 * once (item id).
 */
export function stashItems(
  { store, refusesContent }: ActivityDependencies,
  { items, ...run }: StashInput,
): Promise<Stashed> {
  return stashFitting(store, fromRun(store, run), refusesContent ? refuseContent(items) : { items });
}

type Stashed = ActivityOutcome<'stashItems'>;

export async function stashFitting(
  store: SpillStore,
  run: FromRun,
  { items, rejections = [] }: Omit<SpillItems, keyof FromRun>,
): Promise<Stashed> {
  try {
    return await store.queue.spill({ ...run, items, rejections });
  } catch (error) {
    if (!isCausedByItem(error)) throw error;
    if (items.length === 1) {
      const refused = [...rejections, toRejection(items, error)];
      return store.queue.spill({ ...run, items: [], rejections: refused });
    }
    const half = Math.ceil(items.length / 2);
    await stashFitting(store, run, { items: items.slice(0, half), rejections });
    return stashFitting(store, run, { items: items.slice(half) });
  }
}

/** SQLSTATE classes "data exception" and "program limit exceeded". */
const DATA_ERROR = /^(22|54)[0-9A-Z]{3}$/;
/** SQLITE_TOOBIG, SQLITE_MISMATCH. */
const SQLITE_DATA_ERRORS: readonly unknown[] = [18, 20];

/** True if the item itself is the cause, so that it would fail in the same way at any time. */
function isCausedByItem(error: unknown): boolean {
  const { name, code, errcode } = (error ?? {}) as { name?: string; code?: unknown; errcode?: unknown };
  // JSON that is too deep or too long to be made. A TypeError would be a bug of ours, and would reject all items.
  if (name === 'RangeError') return true;
  return (typeof code === 'string' && DATA_ERROR.test(code)) || SQLITE_DATA_ERRORS.includes(errcode);
}

function toRejection([item]: readonly QueueItem[], error: unknown): Refusal {
  const reason = `it cannot be stored: ${errorMessage(error)}`.slice(0, 500);
  return { id: item?.id, code: 'InvalidMessage', reason };
}

/** The store also decides whether there is anything to cancel. */
export async function cancelExecution(
  { store }: ActivityDependencies,
  input: CancelExecutionInput,
): Promise<CancelVerdict> {
  // Throws `StoreMismatch` if this worker uses another store.
  fromRun(store, input);
  const { threadId, request } = input;
  const verdict = await store.executions.cancel({ threadId, ...request });
  if (verdict.kind !== 'canceling' || request.reason !== undefined || request.by !== undefined)
    return verdict;
  // Our client stores the reason, and signals only the execution's id.
  return { ...verdict, cancellation: { ...verdict.cancellation, reason: null, by: null } };
}

export async function answerWait(
  { store, probe }: ActivityDependencies,
  { id, answer, fingerprint, ...run }: AnswerWaitInput,
): Promise<WaitAnswerOutcome> {
  const { threadId } = fromRun(store, run);
  if (await exposesSecret(store, id, answer)) return { outcome: 'misfit', reason: SECRET_EXPOSED };
  const judged = await store.waits.answer({ id, answer, fingerprint });
  await probe?.('wait_answered');
  if (judged.outcome === 'misfit') return judged;
  if (judged.outcome === 'unknown') return { outcome: 'unknown' };
  const wake = wakeAfter(judged.wait);
  if (wake) {
    await openThreadSignals(store).wake(judged.wait.threadId, wake);
    return { outcome: judged.outcome };
  }
  // The answer was given to a relative, such as the root of the family, which shows the wait.
  if (judged.wait.threadId !== threadId) await openThreadSignals(store).answerWait(judged.wait.threadId, id);
  return { outcome: judged.outcome };
}

const SECRET_EXPOSED =
  'values sent by signal or update stay in the workflow history: give secret variables with "everthread waits answer ID --value-stdin", using new values';

/**
 * True if the answer holds values of secrets. They are in the history by now; such answers are refused so that nobody
 * relies on this.
 */
async function exposesSecret(
  { waits }: Pick<ActivityDependencies, 'store'>['store'],
  id: string,
  answer: AnswerWaitInput['answer'],
): Promise<boolean> {
  if (!('value' in answer)) return false;
  const wait = await waits.get(id);
  return wait !== null && asksForSecrets(wait);
}
