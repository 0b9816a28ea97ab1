/** A worker dies at each place of a sub-prompt, and another one continues (definitions §12.6): tools run at most once. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/core/message/message.ts';
import { type Doom, type DoomedCluster, type Manner, startDoomed } from '../support/doomed-cluster.ts';
import type { Cluster } from '../support/fault-cluster.ts';
import { type DeathPoint, isConsulted } from '../support/fault-project.ts';

const doomOf = (point: DeathPoint, late: boolean): Doom => ({ content: 'use consult 1', point, late });

/** `late`: the thread's own step reaches the same place earlier. */
const UNDISTURBED: [string, Doom][] = [
  ['before its call begins', doomOf('subprompt_not_begun', false)],
  ['after its call began, before its step opens', doomOf('subprompt_begun', false)],
  ['after its step opened, before its model is asked', doomOf('subprompt_opened', false)],
  ['while its model streams', doomOf('model_streaming', true)],
  ['after its model answered, before the commit', doomOf('model_answered', true)],
  ['after the commit of its step, before its completion', doomOf('model_committed', true)],
  ['before the body of its tool starts', doomOf('tool_not_begun', true)],
  ["after its tool's commit, before its completion", doomOf('tool_committed', true)],
  ['before its result is composed', doomOf('subprompt_answered', false)],
  ['after its result was stored, before its completion', doomOf('subprompt_finished', false)],
];

const ONCE: [string, Doom, string[]][] = [
  ['before its side effect', doomOf('body_before', true), []],
  ['after its side effect', doomOf('body_after', true), ['1']],
];

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

export function describeSubpromptKill(manner: Manner): void {
  let doomed: DoomedCluster;
  let cluster: Cluster;

  beforeAll(async () => {
    const dooms = [...UNDISTURBED, ...ONCE].map(([, doom]) => doom);
    doomed = await startDoomed({ manner, dooms, isWatched: isConsulted });
    cluster = doomed.cluster;
  });
  afterAll(() => doomed?.close());

  async function tell(thread: string): Promise<string[]> {
    const { messages } = await cluster.client.getMessages(thread, { maxDepth: 9, limit: 1000 });
    return messages.map(toLine);
  }

  async function survivor(doom: Doom): Promise<string> {
    const thread = await doomed.threadOf(doom);
    await cluster.client.waitForIdle(thread);
    return thread;
  }

  describe('a worker process killed with SIGKILL within a sub-prompt', () => {
    it.each(UNDISTURBED)(
      '[definitions 12.6] %s leaves the transcript of an undisturbed run, one answer and each side effect once',
      async (_when, doom) => {
        const thread = await survivor(doom);
        expect(await tell(thread)).toEqual(PEACEFUL);
        expect(cluster.ledger(thread)).toEqual(['1']);
        const events = await cluster.store.events.read(thread, 0, 1_000_000);
        const committed = events.filter(({ type }) => type === 'step.committed').map(({ step }) => step);
        expect(committed).toEqual([1, 2, 3]);
        expect(
          events.filter(({ type, data }) => type === 'tool.result' && data.name === 'consult'),
        ).toHaveLength(1);
      },
    );

    it.each(ONCE)(
      'inside the body of its tool %s reports an unknown outcome to the caller, and never runs the tool again',
      async (_when, doom, written) => {
        const thread = await survivor(doom);
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
}

function toLine({ role, name, depth, content, tool_status: status }: Message): string {
  return `${depth} ${role === 'tool' ? `tool ${name} ${status}` : role}: ${content ?? ''}`;
}
