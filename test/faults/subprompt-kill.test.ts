/**
 * A worker is killed at every place of a sub-prompt; another goes on (definitions §12.6, house: at most once for tools). The
 * order to die is given as the sub-prompt's model is asked, where the thread's own step comes by the same place before.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/core/message.ts';
import { type DoomedCluster, startDoomed } from '../support/doomed-cluster.ts';
import type { Cluster } from '../support/fault-cluster.ts';
import { type DeathPoint, isConsulted } from '../support/fault-project.ts';

let doomed: DoomedCluster;
let cluster: Cluster;

beforeAll(async () => {
  doomed = await startDoomed(isConsulted);
  cluster = doomed.cluster;
});
afterAll(() => doomed?.close());

const WRITTEN = 'It shall be written.';
const PEACEFUL = [
  '0 user: use consult 1',
  '0 assistant: ',
  '1 user: 1',
  `1 assistant: ${WRITTEN}`,
  '1 tool write success: wrote 1',
  `0 tool consult success: ${WRITTEN}\n\nTool calls:\n- write({"line":"1"}) → wrote 1`,
  '0 assistant: Answered "use consult 1" after 1 tool results.',
];

async function tell(thread: string): Promise<string[]> {
  const { messages } = await cluster.client.getMessages(thread, { maxDepth: 9, limit: 1000 });
  return messages.map(toLine);
}

function toLine({ role, name, depth, content, tool_status: status }: Message): string {
  return `${depth} ${role === 'tool' ? `tool ${name} ${status}` : role}: ${content ?? ''}`;
}

/** `late`: the order is given as the sub-prompt's model is asked. */
async function runWithDeath(point: DeathPoint, late: boolean): Promise<string> {
  const thread = await doomed.beginWithDeath('use consult 1', point, late);
  // The next test's worker starts meanwhile: the other one has taken over.
  await Promise.all([cluster.client.waitForIdle(thread), cluster.keep(2)]);
  return thread;
}

describe('a worker process killed with SIGKILL within a sub-prompt', () => {
  it.each<[string, DeathPoint, boolean]>([
    ['before its call begins', 'subprompt_not_begun', false],
    ['after its call began, before its step opens', 'subprompt_begun', false],
    ['after its step opened, before its model is asked', 'subprompt_opened', false],
    ['while its model streams', 'model_streaming', true],
    ['after its model answered, before the commit', 'model_answered', true],
    ['after the commit of its step, before its completion', 'model_committed', true],
    ['before the body of its tool starts', 'tool_not_begun', true],
    ["after its tool's commit, before its completion", 'tool_committed', true],
    ['before its result is composed', 'subprompt_answered', false],
    ['after its result was stored, before its completion', 'subprompt_finished', false],
  ])(
    '[definitions 12.6] %s leaves the transcript of an undisturbed run, one answer and each side effect once',
    async (_when, point, late) => {
      const thread = await runWithDeath(point, late);
      expect(await tell(thread)).toEqual(PEACEFUL);
      expect(cluster.ledger(thread)).toEqual(['1']);
      const events = await cluster.client.store.readEvents(thread, 0, 1_000_000);
      const committed = events.filter((event) => event.type === 'step.committed').map(({ step }) => step);
      expect(committed).toEqual([1, 2, 3]);
      expect(
        events.filter(({ type, data }) => type === 'tool.result' && data.name === 'consult'),
      ).toHaveLength(1);
    },
  );

  it.each<[string, DeathPoint, string[]]>([
    ['before its side effect', 'body_before', []],
    ['after its side effect', 'body_after', ['1']],
  ])(
    'inside the body of its tool %s tells whoever called it that the outcome is unknown, and never runs it again',
    async (_when, point, written) => {
      const thread = await runWithDeath(point, true);
      const lines = await tell(thread);
      expect(lines[4]).toMatch(/^1 tool write error: .*outcome of this call is unknown/);
      expect(lines[5]).toMatch(
        /^0 tool consult error: .*write\(\{"line":"1"\}\) failed: The outcome of this call is unknown/,
      );
      expect(lines.toSpliced(4, 2)).toEqual(PEACEFUL.toSpliced(4, 2));
      expect(cluster.ledger(thread)).toEqual(written);
    },
  );
});
