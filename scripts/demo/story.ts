/**
 * The story: a question, a crash while it is answered, a request to publish, a crash while that runs, a question that
 * the model answers with a program, and the effect that the lost call had scheduled. Each crash is a SIGKILL, and
 * another worker is started at once, as a supervisor would. Nothing here helps the thread to continue: Temporal
 * continues it, from what the store has.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readEntries } from '../../agents/tools/_bulletin.ts';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import { type Screen, toSeconds } from './screen.ts';
import type { ThreadLog } from './thread-log.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface Stage {
  readonly screen: Screen;
  readonly client: RuntimeClient;
  readonly threadId: string;
  readonly log: ThreadLog;
  /** True to kill the second worker before the tool's effect. */
  readonly early: boolean;
  /** Silence after which a worker counts as lost. */
  readonly timeouts: { readonly modelHeartbeatMs: number; readonly toolHeartbeatMs: number };
  startWorker(name: string): WorkerProcess;
  /** Aborts waits for something outside Everthread. */
  readonly signal: AbortSignal;
}

export interface Crash {
  readonly worker: string;
  /** The work that was cut off: a model's answer, or a tool that may not run twice. */
  readonly of: 'answer' | 'tool';
  readonly step: number;
  /** Milliseconds from the kill to the first event of continued work. */
  readonly costMs: number;
  /** Milliseconds of `costMs` spent waiting for a heartbeat. */
  readonly timeoutMs: number;
}

const PUBLISH = 'Publish a summary of that on the bulletin, please.';
const COUNT = 'Which text of the handbook is the longest?';
/** Messages of the user in a whole story. */
export const TURNS = 3;
/** A real model may think for a while; the scripted one needs a few seconds. */
const MODEL_MS = 180_000;
/** On a busy machine the next worker takes a while to start. */
const RECOVERY_MS = 180_000;
/** Characters after which a worker is killed: enough to show that an answer streams, too few to be all of it. */
const STREAMED_CHARACTERS = 150;

export async function tellStory(stage: Stage, question: string, first: WorkerProcess): Promise<Crash[]> {
  const { client, screen, threadId } = stage;
  screen.say('you', question);
  const messages = [{ id: 'question', content: question }];
  await client.startThread({ agent: 'librarian', threadId, messages });
  const answering = await interruptAnswer(stage, first);
  await waitForRest(stage);

  screen.say('you', PUBLISH);
  const from = stage.log.events.length;
  await client.queueMessage(threadId, { id: 'publish', content: PUBLISH });
  const publishing = await interruptTool(stage, answering?.next ?? first, from);
  await waitForRest(stage);

  screen.say('you', COUNT);
  await client.queueMessage(threadId, { id: 'count', content: COUNT });
  await waitForRest(stage);
  await waitForFollowUp(stage);
  return [answering?.crash, publishing?.crash].filter((crash) => crash !== undefined);
}

async function waitForRest({ client, threadId, log }: Stage): Promise<void> {
  const { status, lastError, lastSeq } = await client.waitForIdle(threadId, { timeoutMs: MODEL_MS });
  // The log is read with a delay: the end of the last act may still be missing, and must not count as the end of the next one.
  const isTold = (events: readonly ThreadEvent[]) => (events.at(-1)?.seq ?? 0) >= lastSeq || undefined;
  await log.until('the log tells of it', isTold, MODEL_MS);
  if (status !== 'failed') return;
  throw new Error(
    `the model gives no answer: ${lastError?.message}. npm run demo -- --scripted needs no model.`,
  );
}

/**
 * Waits for the effect that publish_summary scheduled before its worker was killed, if the model published anything.
 */
async function waitForFollowUp(stage: Stage): Promise<void> {
  const { screen, log } = stage;
  const scheduled = log.events.find((event) => event.type === 'effect.scheduled');
  if (!scheduled) return;
  const dueInMs = scheduled.data.dueAt / 1000 - Date.now();
  if (dueInMs > 0) {
    screen.say(
      'note',
      `publish_summary scheduled a look afterwards, before its worker was killed: due in ${toSeconds(dueInMs)} …`,
    );
  }
  const ended = await log.until('the effect fires', findEffectEnd, Math.max(0, dueInMs) + RECOVERY_MS);
  if (ended.type === 'effect.done') await stage.log.until('its message is taken', findFollowUp, RECOVERY_MS);
  await waitForRest(stage);
}

function findEffectEnd(events: readonly ThreadEvent[]): ThreadEvent | undefined {
  return events.find((event) => event.type === 'effect.done' || event.type === 'effect.failed');
}

/** Returns the first user message after the effect began. */
function findFollowUp(events: readonly ThreadEvent[]): ThreadEvent | undefined {
  const begun = events.findIndex((event) => event.type === 'effect.started');
  return events.slice(begun).find(({ type, data }) => type === 'message.created' && data.role === 'user');
}

interface Act {
  /** Undefined if the work was done before the kill. */
  readonly crash?: Crash;
  readonly next: WorkerProcess;
}

/** Kills the worker while the model's answer streams; undefined if the answer was complete before. */
export async function interruptAnswer(stage: Stage, worker: WorkerProcess): Promise<Act | undefined> {
  const { screen, log, timeouts } = stage;
  if ((await log.until('the model streams an answer', findStreaming, MODEL_MS)) === 'over') {
    screen.say('note', 'The model was done before its worker could be killed: this act is skipped.');
    return undefined;
  }
  const timeoutMs = timeouts.modelHeartbeatMs;
  const { at, next } = await crash(stage, worker, 'in the middle of its answer', timeoutMs);
  const sign = after(at, ['step.retried', 'execution.ended']);
  const retried = await log.until('the step is asked again', sign, RECOVERY_MS);
  if (retried.type !== 'step.retried') return { next };
  const costMs = retried.at / 1000 - at;
  const step = retried.step ?? 0;
  screen.say(
    'back',
    `${toSeconds(costMs)} after the kill, worker ${next.name} asks the model again for step ${step}`,
  );
  screen.say('note', `The steps before it are stored: none is asked again, none of their tools runs again.`);
  return { crash: { worker: worker.name, of: 'answer', step, costMs, timeoutMs }, next };
}

async function interruptTool(stage: Stage, worker: WorkerProcess, from: number): Promise<Act | undefined> {
  const { screen, log, early, timeouts } = stage;
  if (!(await waitForPublishing(stage, from))) {
    screen.say('note', 'The model did not publish anything: this act is skipped.');
    return undefined;
  }
  const timeoutMs = timeouts.toolHeartbeatMs;
  const when = early
    ? 'before the entry is on the bulletin'
    : 'the entry is on the bulletin, and no process knows of it';
  const { at, next } = await crash(stage, worker, when, timeoutMs);
  const unknown = await log.until('the lost call is settled', after(at, ['tool.unknown']), RECOVERY_MS);
  const costMs = unknown.at / 1000 - at;
  screen.say(
    'back',
    `${toSeconds(costMs)} after the kill, the call is settled: "outcome unknown", and the model is told`,
  );
  screen.say(
    'note',
    'It may have worked, so it is not repeated; it may have failed, so no success is made up.',
  );
  return { crash: { worker: worker.name, of: 'tool', step: unknown.step ?? 0, costMs, timeoutMs }, next };
}

/** Kills a worker and starts the next one, as a supervisor would. */
async function crash({ screen, startWorker }: Stage, worker: WorkerProcess, when: string, timeoutMs: number) {
  const at = await worker.kill();
  const next = startWorker(String.fromCharCode(worker.name.charCodeAt(0) + 1));
  // The output of the dead worker has been read by then.
  await sleep(150);
  screen.say('KILL', `worker ${worker.name} (SIGKILL to process ${worker.pid}): ${when}`);
  screen.say('worker', `process ${next.pid} starts, as a supervisor would see to it`, `worker ${next.name}`);
  screen.say(
    'note',
    `Temporal waits ${timeoutMs / 1000} s for a sign of life before it gives the work away …`,
  );
  return { at, next };
}

function after(at: number, types: readonly string[]) {
  return (events: readonly ThreadEvent[]) =>
    events.find((event) => types.includes(event.type) && event.at / 1000 > at);
}

/** Returns `over` if the execution has ended. */
function findStreaming(events: readonly ThreadEvent[]): 'streaming' | 'over' | undefined {
  if (events.some((event) => event.type === 'execution.ended')) return 'over';
  const step = events.slice(events.findLastIndex((event) => event.type === 'step.started'));
  if (step.some((event) => event.type === 'step.committed')) return undefined;
  const chunks = step.filter((event) => event.type === 'model.chunk');
  const characters = chunks.reduce((sum, { data }) => sum + data.delta.length, 0);
  return characters >= STREAMED_CHARACTERS ? 'streaming' : undefined;
}

/** Waits until the tool has begun and, unless `early`, its effect is visible; false if the model ended without it. */
async function waitForPublishing({ log, threadId, early, signal }: Stage, from: number): Promise<boolean> {
  const isOver = () => log.events.slice(from).some((event) => event.type === 'execution.ended');
  const hasBegun = (events: readonly ThreadEvent[]) =>
    events.slice(from).some(({ type, data }) => type === 'tool.started' && data.name === 'publish_summary');
  await log.until('publish_summary begins', (events) => hasBegun(events) || isOver() || undefined, MODEL_MS);
  if (early) await sleep(700, undefined, { signal });
  const isPublished = async () => (await readEntries()).some(({ key }) => key.startsWith(`${threadId}:`));
  while (!early && !isOver() && !(await isPublished())) await sleep(20, undefined, { signal });
  return !isOver();
}
