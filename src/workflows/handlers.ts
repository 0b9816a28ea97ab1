/**
 * Handlers of signals, updates and the query. They are synchronous, except that the update may wait until the run is
 * opened. Signal handlers never throw: a bad payload must not fail a workflow task.
 * - Handlers receive undecoded payloads as letters (letter.ts), possibly several in a batch, and read them within
 *   bounds.
 */
import {
  ApplicationFailure,
  condition,
  defineSignal,
  defineUpdate,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { type CancelVerdict, readCancelRequest, refuseCancel } from '../core/governance/cancellation.ts';
import { type IncomingItem, isItemId, type Parsed, parseMessage, parseTool } from '../core/thread/item.ts';
import { isThreadId } from '../core/thread/start-input.ts';
import { isTaskThread } from '../core/thread/task-start.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import { handleAnswerSignal, handleAnswerUpdate, readAnswer } from './answers.ts';
import { type Batch, type Letter, readLetter } from './letter.ts';
import {
  answerWait,
  type CanceledView,
  cancelExecution,
  type EndPayload,
  queueMessage,
  queueTool,
  sendMessage,
  status,
  stop,
  terminate,
  UPDATE_NAMES,
  wakeForEffects,
  wakeForMessages,
} from './messages.ts';
import { toStatusView } from './presence.ts';
import type { ThreadRun } from './thread-run.ts';

/** The update with its undecoded payload. */
const SEND_LETTER = defineUpdate<Answered, [Letter]>(sendMessage.name);

type Answered = { id: string } | WaitVerdict | CanceledView;

export function registerHandlers(run: ThreadRun): void {
  const receive = (batch: unknown) => {
    const { letters, budget } = batch as Batch;
    for (const letter of letters) {
      const { name = '' } = letter;
      const entry = SIGNALS.get(name);
      const take = () => (entry ? entry.take(run, letter) : run.refusals.addUnknownSignal(name));
      if (name === terminate.name) take();
      else run.mailbox.receive(letter, budget, take);
    }
    run.presence.refresh();
  };
  for (const [name, { description }] of SIGNALS)
    setHandler(defineSignal<[unknown]>(name), receive, { description });
  setHandler(SEND_LETTER, (letter) => answerUpdate(run, letter), {
    description: 'Queue a message and get its id back, or a refusal with a code.',
    validator: (letter) => validateUpdate(run, letter),
  });
  setHandler(status, () => toStatusView(run), { description: 'What the thread is doing now.' });
  // Last: signals buffered before the start are delivered name by name, in the order of registration above.
  setDefaultSignalHandler((_name, batch) => receive(batch));
}

interface SignalEntry {
  readonly description: string;
  readonly take: (run: ThreadRun, letter: Letter) => void;
}

/** The order matters: signals buffered before the start are delivered name by name, in this order. */
const SIGNALS: ReadonlyMap<string, SignalEntry> = new Map<string, SignalEntry>([
  [
    queueMessage.name,
    {
      description:
        'Queue a message: {"content": "…", "id"?: "…", "role"?: "user" | "assistant"}. Durable, in order.',
      take: (run, letter) => run.acceptOrDrop(parseItem(letter)),
    },
  ],
  [
    queueTool.name,
    {
      description:
        'Queue a tool call: {"name": "…", "arguments": {…}, "id"?: "…"}. The model sees its result.',
      take: (run, letter) => run.acceptOrDrop(parseItem(letter, parseTool)),
    },
  ],
  [
    stop.name,
    {
      description:
        'End the current execution. What is queued stays until the next user message. {"reason"?: "…"}',
      take: (run, letter) => run.requestStop(readEnd(letter)),
    },
  ],
  [
    terminate.name,
    {
      description: 'End the thread for ever. Its history stays readable. {"reason"?: "…"}',
      take: (run, letter) => run.requestTerminate(readEnd(letter)),
    },
  ],
  [
    wakeForEffects.name,
    {
      description:
        'Look for effects in so many milliseconds: {"inMs"?: 0}. Sent when one was scheduled outside the thread.',
      take: (run, letter) => run.effects.lookIn(readDelay(letter)),
    },
  ],
  [
    answerWait.name,
    {
      description:
        'Answer a wait: {"id": "…", "answer"?: {"approved": true} or {"value": …}}. Without an answer: look into the store for it.',
      take: handleAnswerSignal,
    },
  ],
  [
    wakeForMessages.name,
    {
      description:
        'Look into the store: another thread of the family has left a message, a report or a child to start there.',
      take: handleFamilySignal,
    },
  ],
  [
    cancelExecution.name,
    {
      description:
        'Cancel an execution, the one that runs where none is named: {"executionId"?: "…", "reason"?: "…", "by"?: "…"}.',
      take: handleCancel,
    },
  ],
]);

function parseItem(
  letter: Letter,
  parse: (payload: unknown) => Parsed<IncomingItem> = parseMessage,
): Parsed<IncomingItem> {
  const read = readLetter(letter, LIMITS.payloadBytes);
  return read.ok ? parse(read.value) : read;
}

/** Handles all updates: the interceptor gives them one name (interceptors.ts, D3). */
function answerUpdate(run: ThreadRun, letter: Letter): Promise<Answered> {
  if (letter.name === answerWait.name) return handleAnswerUpdate(run, letter);
  return letter.name === cancelExecution.name ? answerCancel(run, letter) : answerMessage(run, letter);
}

/** Accepts the message at once, to keep the order; answers once the run is opened. Throws if the thread has ended. */
async function answerMessage(run: ThreadRun, letter: Letter): Promise<{ id: string }> {
  // Letters that are still waiting came before this one.
  if (!run.mailbox.empty) await condition(() => run.mailbox.empty);
  const parsed = parseItem(letter);
  if (!parsed.ok) throw toFailure(parsed);
  const accepted = run.inbox.accept(parsed.value);
  run.presence.refresh();
  if (run.settings === undefined) await condition(() => run.phase.kind !== 'opening');
  if (run.ended) throw terminated(run);
  return accepted;
}

function handleCancel(run: ThreadRun, letter: Letter): void {
  if (!run.ending) run.requests.askCancel(readCancelRequest(readFields(letter)));
}

async function answerCancel(run: ThreadRun, letter: Letter): Promise<CanceledView> {
  const asked = run.requests.askCancel(readCancelRequest(readFields(letter)));
  await condition(() => asked.verdict !== undefined || run.ending);
  const { request, verdict } = asked;
  if (!verdict) throw terminated(run);
  const refusal = refuseCancel(run.threadId, request, verdict);
  if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.code);
  const { executionId, cancellation } = verdict as Extract<CancelVerdict, { kind: 'canceling' }>;
  return { executionId, reason: cancellation.reason, by: cancellation.by };
}

/** Validates without changing state: a refused update leaves no trace in history. */
function validateUpdate(run: ThreadRun, letter: Letter): void {
  const { name = '' } = letter;
  if (!UPDATE_NAMES.includes(name)) throw unknownUpdate(name);
  if (run.ending) throw terminated(run);
  // Any payload is valid.
  if (name === cancelExecution.name) return;
  if (name === answerWait.name) {
    const { ok, refusal } = readAnswer(letter);
    if (!ok) throw toFailure({ ok, refusal });
    return;
  }
  const parsed = parseItem(letter);
  if (!parsed.ok) throw toFailure(parsed);
}

function toFailure({ refusal }: Extract<Parsed<IncomingItem>, { ok: false }>): ApplicationFailure {
  return ApplicationFailure.nonRetryable(refusal.reason, refusal.code);
}

function unknownUpdate(name: string): ApplicationFailure {
  const message = `There is no update ${JSON.stringify(name)}; a thread knows ${UPDATE_NAMES.join(', ')}.`;
  return ApplicationFailure.nonRetryable(message, 'InvalidMessage');
}

function terminated(run: ThreadRun): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `Thread "${run.threadId}" is terminated; start a new one.`,
    'ThreadTerminated',
  );
}

/** Returns the fields of a payload. A request counts whatever its payload: an unreadable one is treated as empty. */
function readFields(letter: Letter): Readonly<Record<string, unknown>> {
  const read = readLetter(letter, LIMITS.controlPayloadBytes);
  return ((read.ok ? read.value : undefined) ?? {}) as Record<string, unknown>;
}

/** Milliseconds until the check for effects; 0 if the payload is invalid, since an unnecessary check is harmless. */
function readDelay(letter: Letter): number {
  const { inMs } = readFields(letter);
  return typeof inMs === 'number' && Number.isFinite(inMs) ? inMs : 0;
}

/** True if the id is that of a thread or of a task. */
function isChildId(id: unknown): id is string {
  return isThreadId(id) || (typeof id === 'string' && isTaskThread(id));
}

/** Handles `wakeForMessages`. An invalid payload counts as an announcement of items in line. */
function handleFamilySignal(run: ThreadRun, letter: Letter): void {
  const { reportOf, waitOf, boot, speaks, settled, unprompted } = readFields(letter);
  if (settled === true) {
    run.budget.receive();
    return;
  }
  if (isChildId(waitOf)) {
    run.family.receive({ waitOf });
    return;
  }
  run.family.receive({ reportOf: isChildId(reportOf) ? reportOf : undefined, boot: boot === true });
  if (boot !== true) run.inbox.wake();
  if (speaks !== true) return;
  run.inbox.hearRelative();
  if (unprompted === true) run.goOnUnprompted();
}

function readEnd(letter: Letter): EndPayload {
  const { reason, stored } = readFields(letter);
  if (isItemId(stored)) return { stored };
  return typeof reason === 'string' && reason.length > 0 ? { reason: reason.slice(0, 500) } : {};
}
