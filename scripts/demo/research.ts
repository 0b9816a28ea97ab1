/**
 * The second scenario: a coordinator with two researchers and a reviewing second side. The only worker is killed while both
 * researchers speak; another one goes on with all three threads.
 */
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { FamilyLog } from './family-log.ts';
import { checkFamily } from './family-promise.ts';
import { printPrice, printPromises } from './report.ts';
import { toSeconds } from './screen.ts';
import type { Crash } from './story.ts';
import type { Theatre } from './theatre.ts';
import { printFamily, printFamilyPlaces } from './tree.ts';

const RESEARCHERS = 2;
const MODEL_MS = 180_000;
/** On a busy machine the next worker takes a while to start. */
const RECOVERY_MS = 180_000;
/**
 * Events that show continued work: a researcher whose answer was complete when its worker was killed starts the next
 * step.
 */
const GOES_ON: ReadonlySet<string> = new Set(['step.retried', 'step.started', 'execution.ended']);

export async function performResearch(theatre: Theatre): Promise<boolean> {
  const { options, screen, client, threadId, stack } = theatre;
  screen.say('you', options.question);
  await client.startThread({
    agent: 'coordinator',
    threadId,
    messages: [{ id: 'question', content: options.question }],
  });
  const family = new FamilyLog(screen, client, threadId, { a: 'coordinator', b: 'reviewer' });
  stack.defer(() => family.close());
  const crashes = await Promise.race([tellResearch(theatre, family), theatre.failure]);
  const findings = await checkFamily(client, family, crashes);
  await printFamily(screen, client, threadId);
  printPromises(screen, findings);
  printPrice(screen, crashes);
  await printFamilyPlaces(theatre, family);
  return findings.every(({ kept }) => kept);
}

async function tellResearch(theatre: Theatre, family: FamilyLog): Promise<Crash[]> {
  const { client, screen, threadId } = theatre;
  await family.root.log.until(
    'the researchers are sent out',
    () => (family.children.length >= RESEARCHERS ? true : undefined),
    MODEL_MS,
  );
  const speaking = await Promise.all(family.children.map((child) => untilSpeaking(child.log)));
  const { calm } = theatre.options;
  const kills = !calm && speaking.every((each) => each === 'streaming');
  const crashes = kills ? await crash(theatre, family) : [];
  if (crashes.length === 0 && !calm)
    screen.say('note', 'The researchers were done before their worker could be killed.');
  const isOver = () => findEnd(family) ?? findFailure(family);
  const end = await family.root.log.until('the brief is approved', isOver, MODEL_MS);
  await client.waitForIdle(threadId, { timeoutMs: MODEL_MS });
  screen.say('note', `The session has ended: ${'reason' in end.data ? end.data.reason : end.data.message}.`);
  return crashes;
}

type Log = FamilyLog['root']['log'];

/** Resolves when some text has been streamed; `over` if the execution has ended before. */
function untilSpeaking(log: Log): Promise<'streaming' | 'over'> {
  const find = () => {
    const { events } = log;
    if (events.some((event) => event.type === 'execution.ended')) return 'over';
    const begun = events.findLastIndex((event) => event.type === 'step.started');
    const chunks = events.slice(begun).filter((event) => event.type === 'model.chunk');
    return chunks.length >= 3 ? 'streaming' : undefined;
  };
  return log.until('a researcher speaks', find, MODEL_MS);
}

/** Kills the only worker, which serves the whole family. */
async function crash({ screen, startWorker, first, timeouts }: Theatre, family: FamilyLog): Promise<Crash[]> {
  const names = family.children.map(({ cast }) => cast.a).join(' and ');
  const at = await first.kill();
  const next = startWorker('B');
  const timeoutMs = timeouts.modelHeartbeatMs;
  screen.say('KILL', `worker A (SIGKILL to process ${first.pid}): while ${names} speak`);
  screen.say('worker', `process ${next.pid} starts, as a supervisor would see to it`, 'worker B');
  screen.say(
    'note',
    `Temporal waits ${timeoutMs / 1000} s for a sign of life before it gives the work away …`,
  );
  const crashes = await Promise.all(
    family.children.map(async ({ log, cast }): Promise<Crash[]> => {
      const find = () => log.events.find(({ type, at: time }) => GOES_ON.has(type) && time / 1000 > at);
      const sign = await log.until(`${cast.a} goes on`, find, RECOVERY_MS);
      if (sign.type !== 'step.retried') return [];
      const costMs = sign.at / 1000 - at;
      const step = sign.step ?? 0;
      screen.say(
        'back',
        `${toSeconds(costMs)} after the kill, worker B asks ${cast.a}'s model again for step ${step}`,
      );
      return [{ worker: 'A', of: 'answer', step, costMs, timeoutMs }];
    }),
  );
  return crashes.flat();
}

function findEnd({ root }: FamilyLog) {
  // The coordinator's execution also ends when it waits for reports: the work continues then.
  return eventsOf(root.log.events, 'execution.ended').find(
    ({ data }) => data.reason !== 'state_stop_session',
  );
}

function findFailure({ root }: FamilyLog) {
  return root.log.events.find((event) => event.type === 'step.failed');
}
