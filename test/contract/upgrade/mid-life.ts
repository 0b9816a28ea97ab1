/**
 * Threads in many states, and what a store answers about them: made and queried by the build that recorded a database,
 * and queried again by this build once it has migrated that database.
 */
import type { HistoryWindow, StepContext } from '../../../src/store/step/step-place-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import { call, message, openThread, ThreadDriver, tool } from '../thread-driver.ts';

const LIMITS = { maxSteps: { a: 4, b: 4 }, maxSessionTurns: 9 };
const rules = () => ({ limits: LIMITS });
const TWO_SIDES = { twoSides: true, session: { side: 'b', turns: 1 }, rules } as const;

/** Runs an execution to its end: `steps` steps with a call each, then an answer. */
async function live(thread: ThreadDriver, name: string, steps: number): Promise<void> {
  thread.executionId = name;
  for (let n = 0; n < steps; n++) {
    const items = n === 0 ? [message(`${name}-asked`)] : [];
    const { step } = await thread.answer(items, { content: null, toolCalls: [call(`${name}-${n}`, 'look')] });
    await thread.runTool(step, 0);
    thread.afterStep = step;
  }
  thread.afterStep = (await thread.answer([], { content: `${name} is done` })).step;
  await thread.rest();
}

type Life = (thread: ThreadDriver) => Promise<void>;

/** The past of each thread; the newest step of its last execution is in the state that the name gives. */
const LIVES: Readonly<Record<string, Life>> = {
  'at rest': async (thread) => {
    await live(thread, 'one', 2);
    await live(thread, 'two', 1);
  },
  'a model is asked': async (thread) => {
    await live(thread, 'one', 2);
    thread.executionId = 'two';
    const { step } = await thread.answer([message('again')], { toolCalls: [call('c', 'look')] });
    await thread.runTool(step, 0);
    thread.afterStep = step;
    await thread.beginCall();
  },
  'a tool is running': async (thread) => {
    await live(thread, 'one', 1);
    thread.executionId = 'two';
    const { step } = await thread.answer([message('again')], { toolCalls: [call('c', 'look')] });
    await thread.beginTool(step, 0);
  },
  'a killed run was replaced': async (thread) => {
    thread.executionId = 'one';
    await thread.beginCall([message('a')]);
    const revived = thread.as('run-2');
    await revived.open();
    revived.executionId = 'one';
    await revived.beginCall();
    thread.runId = 'run-2';
  },
  'a step has failed': async (thread) => {
    await live(thread, 'one', 1);
    thread.executionId = 'two';
    const { step } = await thread.answer([message('again')], { toolCalls: [call('c', 'look')] });
    await thread.runTool(step, 0);
    thread.afterStep = step;
    const ref = await thread.beginCall();
    await thread.store.steps.fail({ ...ref, error: { code: 'Broken', message: 'no answer' } });
  },
  'its own work goes on with the count': async (thread) => {
    await live(thread, 'one', 2);
    thread.executionId = 'two';
    await thread.store.queue.add(thread.id, tool('own', 'look'), { own: true });
    await thread.begin();
    const own = await thread.store.threads.get(thread.id);
    thread.afterStep = (own?.lastStep ?? 0) - 1;
  },
  'the other side acts': async (thread) => {
    await live(thread, 'one', 1);
    thread.executionId = 'two';
    const a = await thread.answer([message('again')]);
    thread.afterStep = a.step;
    await thread.beginCall([], TWO_SIDES);
  },
  'messages were deleted and others are its own': async (thread) => {
    await live(thread, 'one', 2);
    await thread.store.messages.inject(thread.id, {
      id: 'in',
      role: 'user',
      content: 'x',
      executionId: null,
    });
    await thread.store.messages.delete(thread.id, 'one-asked');
    thread.executionId = 'two';
    await thread.beginCall([message('again')]);
  },
};

export const MID_LIFE = Object.keys(LIVES);

/** The position of a thread's workflow. */
export type Standing = Pick<ThreadDriver, 'id' | 'runId' | 'executionId' | 'afterStep'>;

export async function makeMidLife(store: ThreadStore): Promise<Record<string, Standing>> {
  const made: Record<string, Standing> = {};
  for (const [name, life] of Object.entries(LIVES)) {
    const thread = await openThread(store);
    await life(thread);
    const { id, runId, executionId, afterStep } = thread;
    made[name] = { id, runId, executionId, afterStep };
  }
  return made;
}

/** Four characters a token, as the builds that recorded counted. */
const WINDOW: HistoryWindow = {
  includeChat: true,
  includePastTools: true,
  recentImages: 0,
  tokens: 60,
  scale: { ratio: 4 },
};

/** Reads a thread before and after its next step; the answers are JSON, without times and random ids. */
export async function askMidLife(store: ThreadStore, { id, ...standing }: Standing): Promise<unknown> {
  // The ordinals below have not been used by any step.
  const thread = Object.assign(new ThreadDriver(store, id), standing);
  const sides = standing.executionId === 'two' && standing.afterStep > 0 ? { rules } : {};
  const pending = async () => {
    const query = { ...thread.from, ordinal: 100, afterStep: thread.afterStep, items: [message('next')] };
    const { stepCount, sideSteps, limited, executionId } = await store.queue.readPending({
      ...query,
      rules,
    });
    return { stepCount, sideSteps, limited, executionId };
  };
  const context = async () => {
    const step = (await store.threads.get(id))?.lastStep ?? 0;
    return toAnswer(await store.steps.readContext(id, step, () => WINDOW));
  };
  const before = { pending: await pending(), context: await context() };
  const begun = await thread.begin([message('next')], { ordinal: 100, ...sides });
  return { before, begun, after: { pending: await pending(), context: await context() } };
}

function toAnswer({ stepCount, sideSteps, side, messages, trimmed }: StepContext) {
  return { stepCount, sideSteps, side, shown: messages.length, trimmed };
}
