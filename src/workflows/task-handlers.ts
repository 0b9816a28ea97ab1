/**
 * Handlers of signals, updates and the query of a task. Like those of a thread (handlers.ts), they are synchronous, and
 * signal handlers never throw. A task accepts answers, and requests to abort it.
 */
import {
  ApplicationFailure,
  condition,
  defineSignal,
  defineUpdate,
  log,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { isItemId } from '../core/thread/item.ts';
import type { TaskCause } from '../core/thread/task-step.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import { handleAnswerSignal, handleAnswerUpdate, readAnswer } from './answers.ts';
import { type Batch, type Letter, readLetter } from './letter.ts';
import {
  answerWait,
  cancelExecution,
  sendMessage,
  stop,
  taskStatus,
  terminate,
  wakeForMessages,
} from './messages.ts';
import type { TaskRun } from './task-run.ts';

/** The one update, under whose name the interceptor passes all updates (interceptors.ts, D3). */
const SENT_LETTER = defineUpdate<WaitVerdict, [Letter]>(sendMessage.name);

const ABORTS: Readonly<Record<string, string>> = {
  [stop.name]: 'Abort the task. {"reason"?: "…"}',
  [terminate.name]: 'Abort the task. {"reason"?: "…"}',
  [cancelExecution.name]: 'Abort the task. {"reason"?: "…"}',
};

export function registerTaskHandlers(run: TaskRun): void {
  const receive = (batch: unknown) => {
    const { letters, budget } = batch as Batch;
    for (const letter of letters) run.mailbox.receive(letter, budget, (each) => handleSignal(run, each));
  };
  setHandler(defineSignal<[unknown]>(answerWait.name), receive, {
    description:
      'Answer what the task asks: {"id": "…", "answer"?: {"approved": true} or {"value": …}}. Without an answer: look into the store for it.',
  });
  for (const [name, description] of Object.entries(ABORTS))
    setHandler(defineSignal<[unknown]>(name), receive, { description });
  setHandler(SENT_LETTER, (letter) => handleUpdate(run, letter), {
    description: 'As the update "answerWait": answer what the task asks, and get the verdict.',
    validator: validateUpdate,
  });
  setHandler(taskStatus, () => run.view, { description: 'What the task is doing now.' });
  // Last: signals buffered before the start are delivered name by name, in the order of registration above.
  setDefaultSignalHandler((_name, batch) => receive(batch));
}

function handleSignal(run: TaskRun, letter: Letter): void {
  const { name = '' } = letter;
  if (name === answerWait.name) handleAnswerSignal(run, letter);
  else if (Object.hasOwn(ABORTS, name)) run.end(readCause(letter));
  // `wakeForMessages` is ignored: a parent that has waited long sends it only to check that the workflow exists.
  else if (name !== wakeForMessages.name) log.warn(`a task takes no signal ${JSON.stringify(name)}`);
}

/** Answers the update once the task is open, because the store decides. */
async function handleUpdate(run: TaskRun, letter: Letter): Promise<WaitVerdict> {
  if (run.phase.kind === 'opening') await condition(() => run.phase.kind !== 'opening');
  return handleAnswerUpdate(run, letter);
}

/** Validates without changing state: a refused update leaves no trace in history. */
function validateUpdate(letter: Letter): void {
  const { name = '' } = letter;
  if (name !== answerWait.name)
    throw ApplicationFailure.nonRetryable(
      `There is no update ${JSON.stringify(name)} of a task; it knows ${answerWait.name}.`,
      'InvalidMessage',
    );
  const { ok, refusal } = readAnswer(letter);
  if (!ok) throw ApplicationFailure.nonRetryable(refusal.reason, refusal.code);
}

const REASON_CHARS = 500;

function readCause(letter: Letter): TaskCause {
  const read = readLetter(letter, LIMITS.controlPayloadBytes);
  const { reason, stored } = ((read.ok ? read.value : undefined) ?? {}) as Readonly<Record<string, unknown>>;
  const given = typeof reason === 'string' && reason !== '' ? reason.slice(0, REASON_CHARS) : 'aborted';
  return { stoppedBy: 'abort', reason: given, stored: isItemId(stored) ? stored : undefined };
}
