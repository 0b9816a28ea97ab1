/**
 * Begins a step (runtime §3.1): takes over a stored step that was not evaluated; else drains the queue, and decides
 * with `planStep` whether queued tools are run or the model is called.
 * - Draining is in the same transaction as the decision, so no input is lost in between. If a step is taken over,
 *   what is in line stays there for the next step.
 * - The workflow knows a step by (run, ordinal), the store by its own number; a repeated command with the same key
 *   finds the same step and drains nothing: input that came in between is the next step's.
 * - A turn that a reset or a killed run left open goes on as the same execution, whatever id the new run proposes:
 *   what the turn has said and done stays current in the model's context.
 * B4. Steps of sub-prompts belong to a call of another step: the workflow learns of that step only, and finds them by
 *     it.
 * - A handoff takes effect with the next step that opens: a step that is taken over belongs to the agent that began
 *   it.
 * - The thread's row has the side that acts while steps open; a step that is taken over has its own side.
 * B7. Limits are checked once it is known who would act, before anything is drained: the input of a forbidden step
 *     stays in line.
 * - Budgets are checked after the drain: the input is history, whatever happens to the step. If a budget is used up,
 *   the execution is over, and later input is left to the next one.
 * - No step of an execution that is to be cancelled begins: what waits stays in line. If all of its input is
 *   cancelled, it has no step.
 * - An item may name the execution that it begins (core/thread/execution-id.ts, E1).
 * - If code of another process produces that execution (core/thread/producer.ts), the step calls no model.
 * - A person may let the thread go on without a message: its step count restarts, and with nothing in line it goes
 *   on from the history.
 */

import type { RejectedAnswer } from '../../core/answer/typed-answer.ts';
import { mustTakeOver, planStep, type UnseenStep } from '../../core/thread/plan-step.ts';
import { NEW_SESSION } from '../../core/thread/session.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { isUsedUp, type LimitReason } from '../../core/thread/step-limit.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import { budgetOf } from '../budget/account.ts';
import { narrowBudget } from '../budget/lines.ts';
import { spend } from '../budget/spend.ts';
import {
  type Drained,
  type DrainedTool,
  type DueInput,
  drain,
  readDue,
  rejectUsedIds,
  selectInLine,
  storeQueuedTool,
} from '../message/drain.ts';
import { countPending, emitQueued, emitRejections, enqueueTools } from '../message/queue.ts';
import { toThreadRecord } from '../schema/rows.ts';
import { type CommandContext, inRunWith } from '../transaction/context.ts';
import { saveContext } from '../transaction/run-context.ts';
import {
  beginSession,
  findUnknownStep,
  hasUnanswered,
  selectOutcome,
  setSession,
  storeOutcome,
} from '../transaction/run-recovery.ts';
import { askedSteps, beginCount, countEnded, countedSteps } from '../transaction/step-count.ts';
import { readJson, selectPlace, toCounts, toPlace, withCurrentAgent } from '../transaction/step-place.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import {
  applyHandoff,
  type OpenExecution,
  pinGuards,
  saveScratch,
  selectOpenExecution,
  setRunning,
} from './execution.ts';
import { findLimitOf, grantRounds, judgeRounds, pause, type RoundsVerdict } from './limit.ts';
import { readMessages, toLoopWarnings } from './read-context.ts';
import type { StepContext, StepPlace } from './step-place-record.ts';
import { type BeginStep, type BegunStep, FIRST_CALL, type ImmediateCalls } from './step-record.ts';
import { describeStep, openModelStep, openToolStep, retryStep } from './stored-step.ts';
import { beginModelCall, countsOf } from './stream.ts';

/**
 * Drains the queue and decides what the step is: call a model, run queued tools, or nothing to do. Nothing is drained
 * if a stored step of the open turn that the workflow has not ended is taken over, or if a limit forbids the acting
 * side another step: the given items are queued then (runtime §3.7, §6). The run and the ordinal are the key: the
 * same command again drains nothing and finds the same step, as another attempt if it is still open.
 */
export async function beginStep(context: CommandContext, command: BeginStep): Promise<BegunStep> {
  const { threadId } = command;
  return inRunWith(
    context,
    command,
    (trx) => [
      selectOutcome(trx, threadId, command),
      selectOpenExecution(trx, threadId),
      selectInLine(trx, command),
    ],
    async (thread, [[before], [open], inLine]) => {
      if (before && before.step !== null && open?.cancel_request) return toCanceledStep(thread, before.swept);
      if (before && before.step !== null) {
        const produced = open?.produced === 1;
        const asked = produced ? withoutRequest(command) : command;
        const resumed = await resume(context, thread, asked, { ...before, step: before.step });
        return withExecutionId(thread, resumed, open?.id ?? command.executionId, asked);
      }
      const unseen = await findUnknownStep(thread.trx, thread.row, command.afterStep);
      // The store's side counts if the store is ahead.
      const behind = unseen !== undefined || (command.session !== undefined && (await hasUnanswered(thread)));
      setSession(thread, beginSession(thread.row, command, { behind }));
      const due = await readDue(thread, command, inLine, open !== undefined);
      if (open === undefined) await beginCount(thread, due.rows, command); // Restarts the count
      const found = { due, unseen, open };
      const decision = await decide(thread, command, found);
      if (before && decision.do === 'drain')
        return { kind: 'nothing_to_do', step: thread.row.last_step, swept: before.swept };
      if (!before) emitRejections(thread, command.rejections);
      const named = decision.do === 'drain' ? due.executionId : undefined; // Named by its item
      const executionId = open?.id ?? named ?? command.executionId;
      const asked = {
        ...((await isProduced(thread, open, named)) ? withoutRequest(command) : command),
        executionId,
      };
      const begun = await apply(context, thread, asked, { ...found, decision, swept: before?.swept ?? 0 });
      if (!before && begun.kind !== 'paused')
        await storeOutcome(thread, command, {
          step: begun.kind === 'call' ? begun.step : begun.kind === 'stored' ? begun.record.step : null,
          swept: begun.swept,
        });
      return withExecutionId(thread, begun, executionId, { ...asked, executionId: command.executionId });
    },
  );
}

/** What a step is begun with. */
interface Found {
  readonly due: DueInput;
  readonly unseen: UnseenStep | undefined;
  /** The execution that has not ended; if there is none, the one that the workflow proposes begins. */
  readonly open: OpenExecution | undefined;
}

type Decision =
  /** What is in line is the next step's. */
  | { readonly do: 'take_over'; readonly step: number }
  /** The execution's budget is used up. */
  | { readonly do: 'end'; readonly error: StoredError }
  /** B7: a limit forbids the step, or a guard pauses it. */
  | { readonly do: 'hold_back'; readonly reason: LimitReason }
  | Extract<RoundsVerdict, { do: 'pause' }>
  /** The open execution is to be cancelled. */
  | { readonly do: 'cancel' }
  | { readonly do: 'drain' };

async function decide(
  { trx, row: thread }: ThreadTransaction,
  { rules, unprompted }: BeginStep,
  { due: input, unseen, open }: Found,
): Promise<Decision> {
  if (open?.cancel_request) return { do: 'cancel' };
  const error = open ? budgetOf(thread)?.exceeded : !unprompted && findEarlierEnd(thread, input);
  if (error) return { do: 'end', error };
  if (mustTakeOver(unseen, thread.turn_open === 1)) return { do: 'take_over', step: unseen.step };
  const { turns, side } = thread;
  const sideSteps = await countEnded(trx, thread);
  const asked = { thread, input, side: input.answering ?? side, sideSteps, turns };
  const reason = findLimitOf(rules, asked);
  if (reason) return { do: 'hold_back', reason };
  const verdict = open && (await judgeRounds({ trx, row: thread }, { ...asked, executionId: open.id }));
  return verdict ?? { do: 'drain' };
}

/** All in line was queued by the thread's own execution, which its budget ended: it begins no other. */
function findEarlierEnd({ last_error: lastError }: ThreadRow, { rows }: DueInput): StoredError | undefined {
  if (lastError === null || rows.length === 0 || rows.some(({ own }) => own === 0)) return undefined;
  const error = JSON.parse(lastError) as StoredError;
  return isUsedUp({ error }) ? error : undefined;
}

type NewlyBegun = Exclude<BegunStep, { kind: 'terminated' }>;

async function apply(
  context: CommandContext,
  thread: ThreadTransaction,
  command: StepCommand,
  { decision, swept, ...found }: Found & { readonly decision: Decision; readonly swept: number },
): Promise<NewlyBegun> {
  if (decision.do === 'drain') return takeStep(context, thread, command, found);
  // The items from the workflow stay in line.
  for (const item of found.due.added) emitQueued(thread, item);
  if (decision.do === 'end') return endStep(thread, decision.error, swept);
  if (decision.do === 'hold_back') return toLimitedStep(thread, decision.reason);
  if (decision.do === 'pause') return pause(thread, { ...decision, executionId: command.executionId });
  if (decision.do === 'cancel') return toCanceledStep(thread, 0);
  await setRunning(thread, command, found);
  return findStored(thread, decision.step, 0);
}

async function takeStep(
  context: CommandContext,
  thread: ThreadTransaction,
  command: StepCommand,
  found: Found,
): Promise<NewlyBegun> {
  for (const item of found.due.added) if (found.due.left.has(item.id)) emitQueued(thread, item);
  if (found.open) await grantRounds(thread, found.due, found.open.id);
  const drained = await drain(thread, found.due, { ...command, open: found.open });
  if (found.open && (await saveContext(thread, found.open, drained.context)))
    await narrowBudget(context, thread, found.open.id, drained.context?.budget);
  if (drained.wantsAnswer) thread.set({ answer_due: 1, turn_open: 1 });
  if (drained.tools.length > 0) thread.set({ turn_open: 1 });
  const begun = await openStep(context, thread, command, { ...found, drained });
  await saveScratch(thread, command.executionId, command.context);
  await enqueueTools(thread, command.queuedTools);
  return begun.kind === 'call'
    ? readRequestContext(thread, command, begun, toOpened(thread, command, { ...found, drained }))
    : begun;
}

/** B7: what is in line is left to an execution that may take it. */
async function toLimitedStep(thread: ThreadTransaction, reason: LimitReason): Promise<NewlyBegun> {
  // The next execution begins a new session, whatever the workflow knows of this one.
  if (reason === 'max_session_turns') setSession(thread, NEW_SESSION);
  const waiting = await countPending(thread);
  return { kind: 'limited', step: thread.row.last_step, reason, swept: 0, waiting };
}

/** No step begins. */
async function toCanceledStep(thread: ThreadTransaction, swept: number): Promise<NewlyBegun> {
  return { kind: 'canceled', step: thread.row.last_step, swept, waiting: await countPending(thread) };
}

async function openStep(
  context: CommandContext,
  thread: ThreadTransaction,
  command: StepCommand,
  { drained, ...found }: Found & { readonly drained: Drained },
): Promise<NewlyBegun> {
  const { swept, tools, unanswered, canceled } = drained;
  const plan = planStep({ newTools: tools.length > 0, turnOpen: thread.row.turn_open === 1 });
  if (plan === 'nothing' && canceled) {
    await setRunning(thread, command, found, drained);
    return toCanceledStep(thread, swept);
  }
  if (plan === 'nothing') return { kind: 'nothing_to_do', step: thread.row.last_step, swept };
  const { agent } = thread.row;
  applyHandoff(thread);
  const { context: runContext, answerType } = drained;
  await setRunning(thread, command, found, { context: runContext, answerType });
  if (found.open && thread.row.agent !== agent) {
    await narrowBudget(context, thread, command.executionId, command.rules?.(thread.row.agent).budget);
    pinGuards(thread, command, { handsOver: true });
  }
  if (plan === 'run_tools') {
    const { executionId, directive = unanswered ? 'unanswered' : undefined } = command;
    const step = await openToolStep(thread, { executionId, directive }, tools);
    // The calls are history too, and closed without running.
    const denied = await spend(context, thread, { maxSteps: 1n }, { step });
    return denied ? endStep(thread, denied, swept) : findStored(thread, step, swept);
  }
  const immediate = await openImmediateStep(thread, command);
  if (immediate !== undefined) return findStored(thread, immediate, swept);
  const denied = await spend(context, thread, { maxSteps: 1n });
  if (denied) return endStep(thread, denied, swept);
  const step = await openModelStep(context, thread, command, drained);
  return { kind: 'call', step, attempt: 1, swept, taken: countedSteps(thread.row) };
}

/** Reported as a failed step; `step` is the thread's last. */
function endStep({ row }: ThreadTransaction, error: StoredError, swept: number) {
  return { kind: 'failed', step: row.last_step, error, swept } as const;
}

/**
 * Adds the execution's id, if the workflow has proposed another one. The commit of a call is relaxed: the workflow
 * learns of a call only from the commit that ends it.
 */
function withExecutionId(
  thread: ThreadTransaction,
  begun: BegunStep,
  executionId: string,
  { executionId: asked, produced }: StepCommand,
): BegunStep {
  if (begun.kind === 'call') thread.relax();
  const tells = executionId !== asked && (begun.kind === 'call' || begun.kind === 'stored');
  const described = tells ? { ...begun, executionId } : begun;
  return described.kind === 'call' && produced ? { ...described, produced } : described;
}

/**
 * Opens the calls that a side makes before its first model step (runtime §7.3): a step of queued tools in place of the
 * model's. They come before the first model step of an agent's side and no later one, even if there were none. After a
 * handoff the agent begins again (execution.ts). Unanswered input stays unanswered: the next step calls the model.
 * Returns the step's number; undefined if the side has no such calls, or has had its first model step.
 */
async function openImmediateStep(thread: ThreadTransaction, command: BeginStep): Promise<number | undefined> {
  const { agent, side } = thread.row;
  const key = `${agent}:${side}`;
  const activated = JSON.parse(thread.row.activated) as string[];
  if (activated.includes(key)) return undefined;
  // Marked even if there are none.
  thread.set({ activated: JSON.stringify([...activated, key]) });
  const calls = command.immediate?.[side];
  if (calls?.key !== key) return undefined;
  const tools = await storeCalls(thread, calls, command.executionId);
  if (tools.length === 0) return undefined;
  thread.set({ turn_open: 1 });
  return openToolStep(thread, command, tools, 'immediate');
}

async function storeCalls(
  thread: ThreadTransaction,
  { tools }: ImmediateCalls,
  executionId: string,
): Promise<DrainedTool[]> {
  const stored: DrainedTool[] = [];
  const metadata = { immediate: true };
  for (const tool of await rejectUsedIds(thread, tools))
    stored.push(await storeQueuedTool(thread, { ...tool, origin: 'code', metadata }, executionId));
  return stored;
}

/**
 * Resumes a step that this run has asked for before: its worker was lost, or its answer was. Continues from the state
 * that the step has reached.
 */
async function resume(
  context: CommandContext,
  thread: ThreadTransaction,
  command: BeginStep,
  { step: begun, swept }: { readonly step: number; readonly swept: number },
): Promise<BegunStep> {
  const step = await thread.read('steps', { step: begun });
  switch (step.state) {
    case 'committed':
      return findStored(thread, step.step, swept);
    case 'failed':
      return {
        kind: 'failed',
        step: step.step,
        error: JSON.parse(thread.row.last_error ?? '{"code":"Unknown","message":"the step failed"}'),
        swept,
      };
    case 'stopped':
    case 'abandoned':
      return { kind: 'nothing_to_do', step: step.step, swept };
    case 'open': {
      const { left, activity } = command;
      const attempt = await retryStep(context, thread, { ...step, left, activity });
      const taken = countedSteps(thread.row);
      return readRequestContext(thread, command, { kind: 'call', step: step.step, attempt, swept, taken });
    }
  }
}

async function findStored(thread: ThreadTransaction, step: number, swept: number) {
  const taken = countedSteps(thread.row);
  return { kind: 'stored', record: await describeStep(thread, step), swept, taken } as const;
}

type StepCommand = BeginStep & { readonly produced?: true };

function withoutRequest({ request: _, immediate: __, ...command }: BeginStep): StepCommand {
  return { ...command, produced: true };
}

/**
 * True if another process produces the execution. The row of an open one has that; for a new one, the producer of the
 * id that its item names has been claimed before the item was sent.
 */
async function isProduced(
  thread: ThreadTransaction,
  open: OpenExecution | undefined,
  named: string | undefined,
): Promise<boolean> {
  if (open) return open.produced === 1;
  if (named === undefined) return false;
  return thread.has('producers', { execution_id: named });
}

type Call = Extract<BegunStep, { kind: 'call' }>;

/**
 * Reads what the request of a step is assembled from, in the transaction that begins the step: after all its writes, so
 * the messages that it drained are included. If nothing else comes first, the first model call begins here too.
 * `opened`: absent for a step that was open before, whose place is read.
 */
async function readRequestContext(
  thread: ThreadTransaction,
  { request }: Pick<BeginStep, 'request'>,
  call: Call,
  opened?: ReturnType<typeof toOpened>,
): Promise<Call> {
  if (!request) return call;
  const { step, attempt } = call;
  const found = opened ?? (await readPlace(thread, step));
  const loops = toLoopWarnings(thread.row, found);
  const counts = countsOf(thread.row);
  const place: StepPlace = { thread: toThreadRecord(thread.written), step, ...found, ...loops, counts };
  const { window, call: first, delays } = request(place);
  const context: StepContext = await readMessages(thread.trx, place, window);
  // Logged once per step: an earlier attempt at it may have logged it.
  const { trimmed: messages, room, assumed } = context;
  if (opened && messages > 0) thread.emit('context.trimmed', { messages, room, assumed }, { step });
  const brought = { ...call, context, noted: opened && (true as const) };
  // With a budget, the call is checked once it is known what will be sent.
  if (!first || thread.row.budget !== null || delays?.(context)) return brought;
  await beginModelCall(thread, { ...first, step, attempt, call: FIRST_CALL });
  return { ...brought, called: true };
}

/** The place of a step that this transaction has opened. */
function toOpened(
  { row }: ThreadTransaction,
  { executionId, context }: BeginStep,
  { open, drained }: Found & { readonly drained: Drained },
) {
  const scratch = JSON.parse(context ?? open?.context ?? '{}') as StepPlace['scratch'];
  const runContext = withCurrentAgent(row, drained.context);
  const rejected = readJson<RejectedAnswer>(open?.rejected);
  const answerType = open ? readJson<JsonSchema>(open.answer_type) : drained.answerType;
  const counts = toCounts(askedSteps(row));
  return {
    executionId,
    ...counts,
    side: row.side,
    scratch,
    runContext,
    subprompt: null,
    rejected,
    answerType,
  };
}

async function readPlace({ trx, threadId, row }: ThreadTransaction, step: number) {
  return toPlace(trx, row, await selectPlace(trx, threadId, step).executeTakeFirstOrThrow());
}
