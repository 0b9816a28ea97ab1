/**
 * The live side of a step: streamed text and the model calls behind it. All of it is relaxed: the commit that ends the
 * step takes it to the disk. The first call may begin with its step (begin-step.ts), and the call that brings the
 * answer ends when that is stored (stored-step.ts, C3). What a call shows of how its model counts (core/context/model-count.ts)
 * is kept in the thread's row, which every step reads and writes anyway.
 */
import type { Kysely, Selectable } from 'kysely';
import { learnCount, type ModelCounts } from '../../core/context/model-count.ts';
import type { EventData } from '../../core/event/event-data.ts';
import type { InSubprompt } from '../../core/event/event-shape.ts';
import { clampAmount, toUsd } from '../../core/value/money.ts';
import { budgetOf, limitedAccounts } from '../budget/account.ts';
import { stopClocks } from '../budget/lines.ts';
import { findReserved, reserveCall, settleReservation } from '../budget/reserve.ts';
import { keepRequest } from '../request/keep-request.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inRunWith, inThread } from '../transaction/context.ts';
import type { StepRef } from '../transaction/from-run.ts';
import { selectRow } from '../transaction/rows.ts';
import { selectStep } from '../transaction/step-row.ts';
import { StaleAttempt, type ThreadRow, type ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showHeld, showTaken } from '../transaction/waiting-for.ts';
import type { HoldModel, ModelCallEnd, ModelCallStart, ModelChunk, StartedModelCall } from './step-record.ts';

/** Appends streamed text to the log. False, with nothing written, if the attempt no longer has the step open. */
export async function appendChunk(context: CommandContext, command: ModelChunk): Promise<boolean> {
  const { call, delta, reasoning, input } = command;
  return emitIfLive(context, command, (thread, depth, place) =>
    thread.emit('model.chunk', { delta, call, reasoning, input, ...depth }, place),
  );
}

/** Logs that no answer has begun yet. False as for `appendChunk`. */
export async function emitWaiting(
  context: CommandContext,
  command: StepRef & Pick<EventData['model.waiting'], 'call' | 'afterMs'>,
): Promise<boolean> {
  const { call, afterMs } = command;
  return emitIfLive(context, command, (thread, depth, place) =>
    thread.emit('model.waiting', { call, afterMs, ...depth }, place),
  );
}

/**
 * Logs that the step waits for a model, and stops the clocks of its budget until the next request: the wait is
 * nobody's working time. False as for `appendChunk`.
 */
export async function holdModel(
  context: CommandContext,
  { model, pauseMs, refusals, by, ...ref }: HoldModel,
): Promise<boolean> {
  return emitIfLive(context, ref, (thread, depth, place) => {
    thread.emit('model.held', { model, retryInMs: pauseMs, refusals, by, ...depth }, place);
    showHeld(thread, model);
    return stopClocks(context, thread);
  });
}

async function emitIfLive(
  context: CommandContext,
  { threadId, runId, step, attempt }: StepRef,
  emit: (
    thread: ThreadTransaction,
    depth: InSubprompt,
    place: { step: number; attempt: number },
  ) => void | Promise<void>,
): Promise<boolean> {
  return inThread(context, threadId, async (thread) => {
    thread.relax();
    const row = await thread.find('steps', { step });
    // Late tokens of a stopped step, or of a worker presumed lost, are ignored.
    if (row?.state !== 'open' || row.attempt !== attempt || thread.row.run_id !== runId) return false;
    await emit(thread, row.depth > 0 ? { depth: row.depth } : {}, { step, attempt });
    return true;
  });
}

/**
 * Starting the same call again has no effect. `exceeded`: the execution's budget denies the call, and no call is
 * stored.
 */
export async function startModelCall(
  context: CommandContext,
  command: ModelCallStart,
): Promise<StartedModelCall> {
  const { threadId, step } = command;
  return inRunWith(
    context,
    command,
    (trx) => [selectStep(trx, threadId, step), selectModelCall(trx, command)],
    async (thread, [[opened], [known]]) => {
      thread.relax();
      // A crashed database may have lost the step: the activity must begin it again before a model is called.
      if (!opened) throw new Error(`The store has no step ${step} of this thread any more.`);
      if (opened.attempt > command.attempt) throw new StaleAttempt(threadId, `attempt at step ${step}`);
      if (known) return findReserved(context, thread, command);
      const started = await reserveCall(context, thread, command);
      if (started.kind !== 'started') return started;
      emitPrepared(thread, command);
      await beginModelCall(thread, command);
      return started;
    },
  );
}

function emitPrepared(
  thread: ThreadTransaction,
  { step, attempt, call, model, modelId, prepared }: ModelCallStart,
): void {
  if (!prepared || !(prepared.always || limitedAccounts(budgetOf(thread.row)).length > 0)) return;
  const provider = prepared.provider === '' ? {} : { provider: prepared.provider };
  thread.emit(
    'context.prepared',
    { call, model, modelId, ...provider, ...prepared.manifest() },
    { step, attempt },
  );
}

export async function beginModelCall(
  thread: ThreadTransaction,
  {
    step,
    attempt,
    call,
    model,
    modelId,
    purpose,
    insteadOf,
    heldMs,
  }: Omit<ModelCallStart, 'threadId' | 'runId'>,
): Promise<void> {
  await thread.insert('model_calls', {
    step,
    attempt,
    call,
    model,
    model_id: modelId,
    state: 'started',
    started_at: thread.now,
  });
  const eventData = { model, modelId, call, purpose, insteadOf, heldMs };
  thread.emit('model.called', eventData, { step, attempt });
  showTaken(thread);
}

/** Settles the call once, even if it had been considered lost. */
export async function endModelCall(context: CommandContext, command: ModelCallEnd): Promise<void> {
  await inRunWith(
    context,
    command,
    (trx) => [selectModelCall(trx, command)],
    async (thread, [[known]]) => {
      thread.relax();
      await settleModelCall(context, thread, command, known);
    },
  );
}

/** Settles a call once. One presumed lost that reports after all was paid for, and its row records that. */
export async function settleModelCall(
  context: CommandContext,
  thread: ThreadTransaction,
  command: ModelCallEnd,
  known: Pick<ModelCallRow, 'state'> | undefined,
): Promise<void> {
  if (known?.state !== 'started' && known?.state !== 'lost') return;
  await storeCallEnd(context, thread, command);
  await settleReservation(context, thread, command);
}

async function storeCallEnd(
  context: CommandContext,
  thread: ThreadTransaction,
  command: ModelCallEnd,
): Promise<void> {
  const { step, attempt, call, ok, error, usage, cost, price, startedAt, firstTokenAt, ignored, discards } =
    command;
  const kept = await keepRequest(context, thread, command, command.sent);
  await thread.update(
    'model_calls',
    { step, attempt, call },
    {
      ...kept,
      state: ok ? 'ok' : 'error',
      error: error ? JSON.stringify(error) : null,
      usage: usage ? JSON.stringify(usage) : null,
      cost_pico: cost ?? null,
      price: price ? JSON.stringify(price) : null,
      started_at: startedAt,
      first_token_at: firstTokenAt ?? null,
      ended_at: thread.now,
    },
  );
  addUsage(thread, command);
  saveCount(thread, command);
  if (ok)
    thread.emit(
      'model.answered',
      {
        call,
        usage: usage ?? null,
        cost: cost === undefined ? null : toUsd(cost),
        ignored: ignored?.length ? ignored : undefined,
      },
      { step, attempt },
    );
  else thread.emit('model.failed', { call, ...error }, { step, attempt });
  if (discards) await emitDiscarded(thread, { step, attempt, call }, error?.code ?? 'unknown');
}

/** A call ends once, so it counts once. */
function addUsage(thread: ThreadTransaction, { usage, cost }: Pick<ModelCallEnd, 'usage' | 'cost'>): void {
  if (!usage && !cost) return;
  const { cost_pico: spent, input_tokens: input, output_tokens: output } = thread.row;
  const { promptTokens = 0, completionTokens = 0 } = usage ?? {};
  thread.set({
    cost_pico: clampAmount(spent + (cost ?? 0n)),
    input_tokens: input + promptTokens,
    output_tokens: output + completionTokens,
  });
}

/** Tells readers to forget streamed text; logged after the event that has the reason. */
async function emitDiscarded(
  thread: ThreadTransaction,
  { step, attempt, call }: Pick<ModelChunk, 'step' | 'attempt' | 'call'>,
  reason: string,
): Promise<void> {
  const { depth } = await thread.read('steps', { step });
  thread.emit('attempt.discarded', { attempt, call, reason, depth: depth || undefined }, { step, attempt });
}

/**
 * Discards what the last request of an attempt has streamed: it will not be the beginning of the answer. A request that
 * failed was discarded with its failure.
 */
export async function discardStreamed(
  thread: ThreadTransaction,
  { step, attempt }: Pick<ModelChunk, 'step' | 'attempt'>,
  why: 'WorkerLost' | 'WorkerShutdown' | 'OutputRejected',
): Promise<void> {
  const last = await thread
    .select('events', { type: 'model.chunk', step, attempt })
    .select('data')
    .where('seq', '>', thread.select('steps', { step }).select('first_seq'))
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!last) return;
  const { call } = JSON.parse(last.data) as EventData['model.chunk'];
  const asked = await thread.find('model_calls', { step, attempt, call });
  if (asked?.state !== 'error') await emitDiscarded(thread, { step, attempt, call }, why);
}

type ModelCallRow = Selectable<Tables['model_calls']>;
type ModelCallKey = Pick<ModelCallStart, 'threadId' | 'step' | 'attempt' | 'call'>;

export function selectModelCall(db: Kysely<Tables>, { threadId, step, attempt, call }: ModelCallKey) {
  return selectRow(db, 'model_calls', { thread_id: threadId, step, attempt, call });
}

/** Models of which a thread keeps something; the earliest is forgotten first. */
const MAX_MODELS = 16;

export function countsOf({ model_counts: text }: Pick<ThreadRow, 'model_counts'>): ModelCounts {
  return text === null ? {} : JSON.parse(text);
}

/** Keeps what an ended call has shown, if it has. Also logs, once for each model, that its provider seems to cut requests. */
function saveCount(
  thread: ThreadTransaction,
  { step, attempt, call, counted: shown }: Pick<ModelCallEnd, 'step' | 'attempt' | 'call' | 'counted'>,
): void {
  if (!shown) return;
  const { model, ...counted } = shown;
  const { [model]: known, ...others } = countsOf(thread.row);
  const count = learnCount(known, counted);
  const entries = [...Object.entries(others), [model, count] as const].slice(-MAX_MODELS);
  const text = JSON.stringify(Object.fromEntries(entries));
  if (text !== thread.row.model_counts) thread.set({ model_counts: text });
  if (counted.undercounted && !known?.told)
    thread.emit('context.undercounted', { call, model, ...counted.undercounted }, { step, attempt });
}
