/**
 * Scenarios in which something fails or intervenes: their histories fix what the workflow does next, and in which
 * order.
 * A process runs each of them once, since their waits and refusals happen only the first time.
 */
import { defineTool } from '../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, modelOf } from '../support/child-project.ts';
import type { RuntimeOptions } from '../support/runtime.ts';
import { eventually } from '../support/runtime.ts';
import { type Scenario, say } from './scenario.ts';

type Probe = NonNullable<RuntimeOptions['probe']>;
type Point = Parameters<Probe>[0];

/** Throws the first `times` times at a place, so that the activity fails that often. */
function refusesAt(place: Point, times: number): Probe {
  let left = times;
  return (point) => {
    if (point === place && left-- > 0) throw new Error(`refused at ${place}`);
  };
}

/** Blocks at a place until `letGo` is called. */
function staysAt(place: Point) {
  const reached = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const probe: Probe = async (point) => {
    if (point !== place) return;
    reached.resolve();
    await left.promise;
  };
  return { probe, reached: reached.promise, letGo: left.resolve };
}

const touch = (takesMs: number, quick: boolean) =>
  defineTool({
    description: 'touches',
    quick,
    async execute() {
      await new Promise((resolve) => setTimeout(resolve, takesMs));
      return { status: 'success', result: 'touched' };
    },
  });

/** The child's execution is the first of the family to end. */
const childsEnd = staysAt('status_committed');

export const ORDER_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'goes-on-unprompted': {
    model: () => scriptedModel([fails({ status: 400, message: 'no' }), says('better')]),
    async live(client, threadId) {
      await say(client, threadId, 'hi');
      await client.continue(threadId);
      await client.waitForIdle(threadId);
    },
  },
  'not-begun': {
    model: () => scriptedModel([calls('touch'), says('touched')]),
    options: { tools: { touch: touch(0, false) }, probe: refusesAt('tool_not_begun', 1) },
    live: (client, threadId) => say(client, threadId, 'touch it'),
  },
  // Early versions gave up local activities after a second, and after four attempts.
  'quick-and-slow': {
    model: () => scriptedModel([calls('touch'), says('touched')]),
    options: { tools: { touch: touch(1500, true) } },
    live: (client, threadId) => say(client, threadId, 'touch it'),
  },
  'commit-refused': {
    model: () => scriptedModel([says('hello')]),
    options: { probe: refusesAt('status_committed', 4) },
    live: (client, threadId) => say(client, threadId, 'hi'),
  },
  'stopped-with-a-report': {
    model: () =>
      modelOf({
        main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
        scribe_desk: () => handsIn('written'),
      }),
    options: { probe: childsEnd.probe },
    registry: (model) => childProject({ model, entries: ['scribe'], children: { scribe: {} } }),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'write' });
      await childsEnd.reached;
      const [child] = await client.store.children.list(threadId);
      const childId = child?.threadId as string;
      await client.stop(childId, 'too late');
      childsEnd.letGo();
      await client.waitForIdle(threadId);
      // The child's work is done with its report, so it ends.
      await eventually(
        'the child has ended',
        async () => (await client.getThread(childId)).terminatedAt !== null,
      );
    },
  },
};
