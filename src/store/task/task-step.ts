/**
 * The steps of a task's loop in the store: what was known before the loop, and what each step observed, decided and
 * did.
 * - A step is stored once: a repeated command, as by the attempt after a lost worker, finds it and changes nothing.
 * T7. An act begins with the transition scheduled → started, under its attempt's own name. Another attempt that finds
 *     it started presumes that its worker is lost: unless the act may be repeated, its outcome is unknown from then on,
 *     and a later result is not stored.
 * - An action that has not succeeded yet keeps the key of its first attempt when it is chosen again.
 * - If an agent has started the task, an act is a call of its family: paid for when it begins, and its cost when it
 *   ends.
 */
import type { ActionOutcome } from '../../core/author/task.ts';
import type { TaskVerdict } from '../../core/task/control.ts';
import { clampAmount, toPico, toUsd } from '../../core/value/money.ts';
import { sha256OfAscii } from '../../core/value/sha256.ts';
import { stopClocks } from '../budget/lines.ts';
import { charge, spend } from '../budget/spend.ts';
import { type CommandContext, inRun, inThread, type Terminated } from '../transaction/context.ts';
import type { FromRun } from '../transaction/from-run.ts';
import { insertNew } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import {
  requireTask,
  selectTaskStep,
  type TaskRow,
  type TaskStepRow,
  tick,
  updateTask,
  updateTaskStep,
  withErrors,
} from './task.ts';
import type {
  BeginAct,
  BegunAct,
  EndAct,
  SaveDecision,
  SaveObservation,
  SaveReadiness,
  TaskEvent,
} from './task-record.ts';

type Kept = { readonly kind: 'kept' } | Terminated;
/** `known`: it was stored before. */
type First = Kept | { readonly kind: 'known' };

/** Stores what is known before the loop begins. The same preflight again changes nothing. */
export async function saveReadiness(context: CommandContext, command: SaveReadiness): Promise<Kept> {
  return inRun<Kept>(context, command, async (thread) => {
    const row = await requireTask(thread);
    const { requirements, answers, events, preflight, verdict } = command;
    // This has been stored before.
    if (row.preflight === 'over' || row.preflight === preflight || row.verdict !== null)
      return { kind: 'kept' };
    emitAll(thread, events);
    await updateTask(thread, {
      requirements: JSON.stringify(requirements),
      answers: JSON.stringify(answers),
      preflight,
      status: 'running',
      verdict: verdict ? JSON.stringify(verdict) : undefined,
      ...tick(row, thread.now, true),
    });
    return { kind: 'kept' };
  });
}

/** Stores the first observation of a step; any other of the same step changes nothing and returns `known`. */
export async function saveObservation(context: CommandContext, command: SaveObservation): Promise<First> {
  return inRun<First>(context, command, async (thread) => {
    const { step, state, fingerprint, evals, score } = command;
    const inserted = await insertNew(thread.trx, 'task_steps', {
      thread_id: thread.threadId,
      step,
      state,
      fingerprint,
      score,
      evals: JSON.stringify(evals),
      ok: 0,
      cost_pico: 0n,
      started_at: thread.now,
    });
    if (!inserted) return { kind: 'known' };
    const failing = evals.filter(({ passed }) => !passed).map(({ id }) => id);
    thread.emit('task.observed', { score, evals: evals.length, failing }, { step });
    // The decision is stored later; a power cut that loses both leaves the step as if it had not begun.
    thread.relax();
    return { kind: 'kept' };
  });
}

/**
 * Stores the first decision of a step, or the verdict that ends the task; any other changes nothing and returns
 * `known`.
 */
export async function saveDecision(context: CommandContext, command: SaveDecision): Promise<First> {
  return inRun<First>(context, command, async (thread) => {
    const { step, decision, action, verdict, error } = command;
    const row = await requireTask(thread);
    const found = await selectTaskStep(thread.trx, thread.threadId, step).executeTakeFirst();
    if (row.verdict !== null || (found?.decision != null && !verdict)) return { kind: 'known' };
    if (decision && found?.decision === null) {
      const isOver = decision.kind === 'stop';
      await updateTaskStep(thread, step, {
        decision: JSON.stringify(decision),
        action: action ?? null,
        act: isOver ? null : 'scheduled',
      });
      thread.emit('task.decided', { kind: decision.kind }, { step });
    }
    if (error) thread.emit('task.failed', { phase: error.phase, message: error.message }, { step });
    await updateTask(thread, {
      verdict: verdict ? JSON.stringify(verdict) : undefined,
      errors: error ? withErrors(row, [error]) : undefined,
      ...tick(row, thread.now, true),
    });
    return { kind: 'kept' };
  });
}

export async function beginAct(context: CommandContext, command: BeginAct): Promise<BegunAct> {
  return inRun<BegunAct>(context, command, async (thread) => {
    const { step, attempt, again } = command;
    const row = await requireTask(thread);
    const found = await selectTaskStep(thread.trx, thread.threadId, step).executeTakeFirst();
    if (!found || found.act === null || found.act === 'over') return { kind: 'settled' };
    const idempotencyKey = await keyOf(thread, found);
    const held = found.act === 'started' && found.attempt !== attempt;
    if (held && !again) {
      // T7: its worker is presumed lost.
      await settle(context, thread, {
        row,
        found,
        given: { ok: false, code: 'ActOutcomeUnknown', error: UNKNOWN_OUTCOME },
      });
      return { kind: 'settled' };
    }
    // Paid for when it first begins.
    const denied = await spend(context, thread, found.act === 'scheduled' ? { maxToolCalls: 1n } : {}, {
      step,
    });
    if (denied) {
      const verdict: TaskVerdict = { stoppedBy: 'budget', pass: false, reason: denied.message };
      await updateTask(thread, { verdict: JSON.stringify(verdict), ...tick(row, thread.now, true) });
      return { kind: 'settled' };
    }
    await updateTaskStep(thread, step, { act: 'started', attempt, act_started_at: thread.now });
    if (found.act === 'scheduled') thread.emit('task.acting', { idempotencyKey }, { step });
    await updateTask(thread, { status: 'running', ...tick(row, thread.now, true) });
    return { kind: 'run', idempotencyKey, repeated: held };
  });
}

const UNKNOWN_OUTCOME =
  'its worker was lost during the act, so it is unknown whether it took effect. Check that before you repeat it.';

/** The key of an action. */
async function keyOf(thread: ThreadTransaction, { action }: TaskStepRow): Promise<string> {
  const done = action === null ? 0 : await thread.count('task_steps', { action, ok: 1 });
  return `${thread.threadId}:${sha256OfAscii(`${action}:${done}`).slice(0, 32)}`;
}

/**
 * Stores the outcome of an act. An act that another attempt holds, or that is over, stays as it is. Not limited to one
 * workflow run: the outcome is valid whichever run asked for it.
 */
export async function endAct(context: CommandContext, command: EndAct): Promise<void> {
  const { threadId, step, attempt, outcome, errors = [] } = command;
  await inThread(context, threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return;
    const found = await selectTaskStep(thread.trx, threadId, step).executeTakeFirst();
    // T7: nothing is stored if another attempt holds the act, or if it is over.
    const mine =
      attempt === undefined
        ? found?.act === 'scheduled'
        : found?.act === 'started' && found.attempt === attempt;
    if (!found || !mine) return;
    const row = await requireTask(thread);
    if (errors.length > 0) await updateTask(thread, { errors: withErrors(row, errors) });
    await settle(context, thread, { row, found, given: outcome });
  });
}

interface Settlement {
  readonly row: TaskRow;
  readonly found: TaskStepRow;
  readonly given: ActionOutcome;
}

async function settle(
  context: CommandContext,
  thread: ThreadTransaction,
  { row, found: { step, act_started_at: begun }, given }: Settlement,
): Promise<void> {
  const cost = toPico(given.costUsd ?? 0);
  const durationMs = begun === null ? undefined : Math.round((thread.now - begun) / 1000);
  const outcome = { ...given, durationMs };
  await updateTaskStep(thread, step, {
    act: 'over',
    outcome: JSON.stringify(outcome),
    ok: given.ok ? 1 : 0,
    cost_pico: cost,
    ended_at: thread.now,
  });
  const spent = clampAmount(row.spent_pico + cost);
  await updateTask(thread, {
    steps: Math.max(row.steps, step + 1),
    spent_pico: spent,
    status: 'running',
    ...tick(row, thread.now, true),
  });
  const eventData = {
    ok: given.ok,
    code: given.code,
    error: given.error?.slice(0, MAX_ERROR_CHARS),
    costUsd: cost > 0n ? toUsd(cost) : undefined,
    spentCostUsd: toUsd(spent),
  };
  thread.emit('task.acted', eventData, { step });
  await charge(context, thread, { maxCost: cost }, { step });
}

const MAX_ERROR_CHARS = 2000;

/** The task begins to wait for people, or continues; waiting does not count as work. */
export async function restTask(
  context: CommandContext,
  command: FromRun & { readonly waits: boolean },
): Promise<void> {
  await inRun(context, command, async (thread) => {
    const row = await requireTask(thread);
    const status = command.waits ? 'waiting' : 'running';
    if (row.status === status) return;
    await updateTask(thread, { status, ...tick(row, thread.now, !command.waits) });
    if (command.waits) await stopClocks(context, thread);
  });
}

/** Logs what its adapter emitted. No effect on a task that is over. */
export async function emitTaskEvents(
  context: CommandContext,
  threadId: string,
  step: number,
  events: readonly TaskEvent[],
): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return;
    emitAll(thread, events, step);
    thread.relax();
  });
}

function emitAll(thread: ThreadTransaction, events: readonly TaskEvent[], step?: number): void {
  for (const { type, data } of events) thread.emit(type, data as never, { step });
}
