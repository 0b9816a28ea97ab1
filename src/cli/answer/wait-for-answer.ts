/**
 * Shows a thread's work until the thread rests or waits for a person. The event log supplies what is shown; the client
 * decides when the work is over, which counts only once the sent message has arrived.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { CommonOptions, Values, WAIT } from '../command.ts';
import { commandName } from '../command-name.ts';
import { findThread } from '../connection/client-command.ts';
import { EXIT, printFailure } from '../exit.ts';
import { printJson } from '../output/output.ts';
import { type AnswerSink, printWaits } from './answer-printer.ts';
import { AnswerStream } from './answer-stream.ts';
import { watchOutages } from './watch-outages.ts';

export interface AnswerWait {
  readonly client: RuntimeClient;
  readonly threadId: string;
  /** Number of the last event that is not shown. */
  readonly after: number;
  /** Id of the user message to be answered. */
  readonly sent?: string;
  readonly sink: AnswerSink;
  /** Default: unlimited. */
  readonly timeoutMs?: number;
  /** Milliseconds without progress before an unreachable server or worker is reported. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 5000;
const POLL_MS = 20;
/** waitForIdle cannot be cancelled, so it is called for short periods. */
const WAIT_SLICE_MS = 2000;

/** Throws `Timeout`, or the code with which the thread refused what was sent. */
export async function waitForAnswer(wait: AnswerWait): Promise<ThreadRecord> {
  const { client, threadId, after, sink } = wait;
  const { timeoutMs = Number.POSITIVE_INFINITY, silenceMs = SILENCE_MS } = wait;
  const deadline = performance.now() + timeoutMs;
  const over = new AbortController();
  const log: LogProgress = { seq: after, arrived: wait.sent === undefined, refusal: undefined, ended: false };
  const away = watchOutages({
    client,
    threadId,
    progress: () => log.seq,
    tell: (text) => sink.tell(text),
    signal: over.signal,
    silenceMs,
  });
  sink.begin();
  const reading = readLog(wait, log, over.signal);
  try {
    const record = await Promise.race([waitForRest(wait, log, deadline), rejectionOf(reading)]);
    while (log.seq < record.lastSeq && !log.ended) await delay(POLL_MS);
    if (log.refusal) throw log.refusal;
    return record;
  } finally {
    over.abort();
    sink.end();
    await Promise.all([away, reading.catch(() => undefined)]);
  }
}

async function waitForRest(
  { client, threadId, sent }: AnswerWait,
  log: LogProgress,
  deadline: number,
): Promise<ThreadRecord> {
  while (!log.ended) {
    // Read before the status: a rest counts only if what was sent had arrived before.
    const arrived = log.arrived || (sent !== undefined && (await hasArrived(client, threadId, sent)));
    const left = deadline - performance.now();
    if (left <= 0) throw await timeout(client, threadId);
    const record = await client
      .waitForIdle(threadId, { timeoutMs: Math.min(left, WAIT_SLICE_MS) })
      .catch(ignoreTimeout);
    // A waiting thread takes the sent message only after the wait has ended.
    if (record && (arrived || record.terminatedAt !== null || record.status === 'waiting')) return record;
    await delay(POLL_MS);
  }
  return client.getThread(threadId);
}

/**
 * True if the thread has taken the message. Reads it by id: one sent again was taken earlier, and is not in the new
 * log.
 */
async function hasArrived(client: RuntimeClient, threadId: string, id: string): Promise<boolean> {
  const message = await client.getMessage(threadId, id);
  return message !== null && message.metadata.queued !== true;
}

/** Never resolves; rejects if the log cannot be read. */
function rejectionOf(reading: Promise<void>): Promise<never> {
  return new Promise((_, reject) => reading.catch(reject));
}

function ignoreTimeout(error: unknown): undefined {
  if (!isRuntimeError(error, 'Timeout')) throw error;
}

async function timeout(client: RuntimeClient, threadId: string): Promise<RuntimeError> {
  const record = await findThread(client, threadId);
  const where = record
    ? `its status is "${record.status}" after step ${record.lastStep}`
    : 'no worker has opened it';
  return new RuntimeError(
    'Timeout',
    `Thread "${threadId}" was not at rest in time: ${where}. It continues by itself as long as a worker serves the task ` +
      `queue "${client.taskQueue}"; "${commandName()} threads tail ${threadId}" shows it.`,
  );
}

interface LogProgress {
  seq: number;
  arrived: boolean;
  refusal: RuntimeError | undefined;
  /** True if the thread is terminated: no more events follow. */
  ended: boolean;
}

async function readLog(
  { client, threadId, after, sent, sink }: AnswerWait,
  log: LogProgress,
  signal: AbortSignal,
): Promise<void> {
  const stream = new AnswerStream((id) => client.getMessage(threadId, id));
  for await (const event of client.events(threadId, { after, signal })) {
    for (const part of await stream.read(event)) sink.show(part);
    recordArrival(event, sent, log);
    log.seq = event.seq;
  }
  log.ended = true;
}

function recordArrival({ type, data }: ThreadEvent, sent: string | undefined, log: LogProgress): void {
  if (type === 'message.created' && data.messageId === sent) log.arrived = true;
  if (type !== 'item.rejected' || data.id === undefined || data.id !== sent) return;
  log.arrived = true;
  log.refusal = new RuntimeError(data.code, `The thread refused the message: ${data.reason}.`);
}

/** Returns the exit code for a thread at rest; prints the reason if it failed. */
export function threadExitCode({ status, lastError }: ThreadRecord): number {
  if (status === 'terminated') {
    printFailure('ThreadTerminated', 'The thread was terminated.');
    return EXIT.notFound;
  }
  if (status !== 'failed') return EXIT.done;
  printFailure(
    lastError?.code ?? 'Failed',
    lastError?.message ?? 'The thread failed; no reason was recorded.',
  );
  return EXIT.failed;
}

/** Ends every command with `--wait`: shows the answer, then the status in which the thread rests. */
export async function showAnswer(
  wait: Omit<AnswerWait, 'timeoutMs'> & Pick<CommonOptions, 'json'> & Pick<Values<typeof WAIT>, 'timeout'>,
): Promise<number> {
  const { threadId, sent, sink, json, timeout } = wait;
  const record = await waitForAnswer({
    ...wait,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  });
  const waits = record.status === 'waiting' ? await wait.client.listWaits({ threadId }) : [];
  if (json) printJson(toAnswerJson(record, { sent, answer: sink.answer, waits }));
  else printWaits(waits);
  return threadExitCode(record);
}

/** Converts an answer to JSON: the id of the message that was sent, the thread's status, its answer, with its value if it has a type, and its open waits. */
export function toAnswerJson(
  { id: threadId, status, stopReason, lastError, output }: ThreadRecord,
  { sent, answer, waits }: { sent: string | undefined; answer: string | null; waits: readonly Wait[] },
): object {
  return {
    threadId,
    id: sent,
    status,
    stopReason,
    error: lastError,
    answer,
    ...(output && { output }),
    ...(waits.length > 0 ? { waits } : {}),
  };
}
