/** runtime §4 with §8.2: reports of a child to a parent with two AI sides go to the side that made the child. */
import { describe, expect, it } from '@jest/globals';
import { calls, type RecordedRequest, says } from '../../src/testing/index.ts';
import { cast, create, familyRuntime, RESUMABLE, reportsIn, settled } from '../support/subagent-project.ts';
import { toolOf } from '../support/tool-work.ts';

const lastOf = ({ messages }: RecordedRequest) => messages.at(-1);

describe('runtime §4 Reports to a parent of two AI sides', () => {
  it('[runtime 4] status and report of a child made by side B are user messages to side B, which answers', async () => {
    const actors = cast({
      pair_a: (request) =>
        lastOf(request)?.content === 'go' ? says('look for it') : calls('finish', { text: 'done' }),
      pair_b: (request) => {
        const { role, content } = lastOf(request) ?? {};
        if (role === 'tool') return says('it is on its way');
        return content === 'look for it' ? calls('subagent_create', create('look')) : says('noted');
      },
      scout_a: (request) =>
        lastOf(request)?.role === 'tool' ? calls('finish', { text: 'found' }) : calls('notify'),
    });
    const chat = { includeChat: true, includePastTools: true };
    const runtime = await familyRuntime({
      cast: actors,
      agents: { scout: {}, pair: {} },
      tools: { notify: toolOf((state) => state.notifyParent('half way')) },
      prompts: {
        pair_b: { ...chat, tools: [{ name: 'scout', blocking: false, ...RESUMABLE }] },
        scout_a: { ...chat, tools: ['notify', 'finish', 'give_up', 'progress'] },
      },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'pair', messages: [{ content: 'go' }] });
    await runtime.client.waitForIdle(threadId);
    const told = await settled(runtime, threadId, 2);
    expect(told.map(({ role, content }) => [role, content?.split('\n\n').at(-1)])).toEqual([
      ['assistant', 'half way'],
      ['assistant', 'found'],
    ]);
    const heard = actors.of('pair_b').at(-1)?.messages ?? [];
    for (const word of ['half way', 'found'])
      expect(heard.find(({ content }) => String(content).endsWith(word))?.role).toBe('user');
    expect(await reportsIn(runtime, threadId)).toHaveLength(2);
  });
});
