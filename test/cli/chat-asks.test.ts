/** In a terminal, `everthread chat` immediately shows the questions that its thread asks a person. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { AskPerson } from '../../src/cli/chat/ask-waits.ts';
import { Conversation } from '../../src/cli/commands/chat.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

/**
 * Runs a chat whose tool asks whether to send, and then for a name. `said` are the person's answers; undefined is none.
 */
async function chatting(...said: (string | undefined)[]) {
  const sent: string[] = [];
  const send = defineTool({
    description: 'sends',
    args: z.object({ to: z.string() }),
    asks: true,
    confirm: ({ to }) => `Send it to ${to}?`,
    async execute(state, { to }) {
      const { value: name } = await state.ask({ key: 'name', question: 'In whose name?' });
      sent.push(`${to} by ${String(name)}`);
      return { status: 'success', result: 'sent' };
    },
  });
  const { client } = await testRuntime({
    model: scriptedModel(
      [calls('send', { to: 'ada' }), says('done')].slice(0, said.includes(undefined) ? 1 : 2),
    ),
    tools: { send },
  });
  const asked: string[] = [];
  const ask: AskPerson = async (question) => {
    asked.push(question);
    return said.shift();
  };
  const conversation = new Conversation(client, { agent: 'helper', json: true, ask });
  const exitCode = await conversation.say('go');
  const { threadId = '' } = conversation;
  return { sent, asked, exitCode, client, threadId, status: (await client.getThread(threadId)).status };
}

describe('a chat in a terminal', () => {
  it('[AX-90] asks for approvals and answers at once, and continues with the input', async () => {
    const { sent, asked, exitCode, status } = await chatting('yes', 'bob');
    expect(asked).toEqual(['send: Send it to ada? [y/N] ', 'send: In whose name? ']);
    expect([sent, exitCode, status]).toEqual([['ada by bob'], 0, 'idle']);
  });

  it('[AX-91] takes anything but a yes as a no', async () => {
    const { sent, asked, status } = await chatting('sure');
    expect([asked.length, sent, status]).toEqual([1, [], 'idle']);
  });

  it('leaves unanswered questions open', async () => {
    const { sent, client, threadId, status } = await chatting(undefined);
    expect([sent, status]).toEqual([[], 'waiting']);
    expect(await client.listWaits({ threadId })).toHaveLength(1);
  });
});
