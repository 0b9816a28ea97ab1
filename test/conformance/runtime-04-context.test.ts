/** runtime §4: what a model receives of a thread. Which messages are chosen: see test/core and test/contract. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { agentOf, roles, sent } from '../support/agent-of.ts';
import { png } from '../support/image.ts';
import { testRuntime } from '../support/runtime.ts';

const photo = { name: 'photo.png', mimeType: 'image/png', data: png(40, 30) };

describe('runtime §4 Context Assembly', () => {
  it('[runtime 4] attachments stay images for a model with vision, and are left out for one without', async () => {
    const blind = scriptedModel([fails({ status: 400, message: 'no' })]);
    const seeing = scriptedModel([says('a photo')]);
    const registry = agentOf({
      blind: { script: blind, capabilities: { supportsImages: false } },
      seeing: { script: seeing },
    });
    const runtime = await testRuntime({ registry });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'What is it?', attachments: [photo] }],
    });
    await runtime.client.waitForIdle(threadId);
    const line = expect.stringMatching(
      /^What is it\?\n\n\[image photo\.png, 40x30, \/attachments\/\w+\.png\]$/,
    );
    expect(sent(blind, 0)[1]).toEqual({ role: 'user', content: line });
    const image = { type: 'image', mediaType: 'image/png', data: Buffer.from(photo.data).toString('base64') };
    expect(sent(seeing, 0)[1]).toEqual({ role: 'user', content: [{ type: 'text', text: line }, image] });
    // The stored message is the same for both models.
    const [message] = await runtime.messages(threadId);
    expect(message).toMatchObject({
      content: 'What is it?',
      attachments: [{ name: 'photo.png', width: 40 }],
    });
    blind.assertConsumed();
    seeing.assertConsumed();
  });

  it('[definitions 15.5] images are shown within the last recentImageThreshold messages', async () => {
    const model = scriptedModel([says('one'), says('two'), says('three')]);
    const runtime = await testRuntime({ model, prompt: { recentImageThreshold: 3 } });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'look', attachments: [photo] }],
    });
    await runtime.client.waitForIdle(threadId);
    await runtime.say(threadId, 'and now?');
    await runtime.say(threadId, 'and now?');
    expect([0, 1, 2].map((n) => typeof sent(model, n)[1]?.content)).toEqual(['object', 'object', 'string']);
  });

  it("[definitions 15.5] a result's images are sent with the result, whose text has their paths", async () => {
    const draw = defineTool({
      description: 'draws',
      execute: () => ({
        status: 'success',
        result: 'drawn',
        attachments: [
          { ...photo, data: `data:image/png;base64,${Buffer.from(photo.data).toString('base64')}` },
        ],
      }),
    });
    const model = scriptedModel([calls('draw'), says('nice')]);
    const runtime = await testRuntime({ model, tools: { draw } });
    await runtime.start('draw');
    const result = sent(model, 1).find(({ role }) => role === 'tool');
    expect(result).toMatchObject({
      content: expect.stringMatching(/^drawn\n\n\[image photo\.png, 40x30, \/attachments\/\w+\.png\]$/),
      attachments: [
        { type: 'image', mediaType: 'image/png', data: Buffer.from(photo.data).toString('base64') },
      ],
    });
  });

  it('[definitions 22.41] a silent message is sent to the model', async () => {
    const model = scriptedModel([says('yes')]);
    const runtime = await testRuntime({ model });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'quietly', silent: true }, { content: 'aloud' }],
    });
    await runtime.client.waitForIdle(threadId);
    expect(sent(model, 0).map(({ content }) => content)).toEqual(['You help.', 'quietly', 'aloud']);
  });

  it('[definitions 15.3] a silent message is listed only on request', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('yes')]) });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'quietly', silent: true }, { content: 'aloud' }],
    });
    await runtime.client.waitForIdle(threadId);
    const listed = async (options = {}) =>
      (await runtime.client.getMessages(threadId, options)).messages.map(({ content }) => content);
    expect(await listed()).toEqual(['aloud', 'yes']);
    expect(await listed({ includeSilent: true })).toEqual(['quietly', 'aloud', 'yes']);
  });

  it('[definitions 6.1] reasoning is stored, and sent again if the prompt includes it', async () => {
    const turns = () => [says('one', { reasoning: 'because' }), says('two')];
    for (const include of [true, false]) {
      const model = scriptedModel(turns());
      const runtime = await testRuntime({ model, prompt: { reasoning: { effort: 'low', include } } });
      const thread = await runtime.start('why?');
      await runtime.say(thread, 'and?');
      expect(model.requests[0]?.reasoning).toMatchObject({ level: 33 });
      const answer = sent(model, 1)[2];
      expect(answer).toEqual({
        role: 'assistant',
        content: 'one',
        ...(include ? { reasoning: 'because' } : {}),
      });
    }
  });

  it("[definitions 5.6] the model's own name for a reasoning level is sent", async () => {
    const script = scriptedModel([says('x')]);
    const capabilities = { reasoningLevels: { 0: null, 50: 'some', 100: 'lots' } };
    const runtime = await testRuntime({
      registry: agentOf({ m: { script, capabilities } }, { reasoning: { effort: 'high', exclude: true } }),
    });
    await runtime.start('hm');
    expect(script.requests[0]?.reasoning).toEqual({ level: 100, effort: 'lots', exclude: true });
  });

  it('[runtime 4] a thread longer than its model’s window omits its oldest messages, and logs that', async () => {
    const script = scriptedModel(Array.from({ length: 7 }, (_, n) => says(`answer ${n} `.padEnd(400, 'x'))));
    const capabilities = { maxContextTokens: 1200, maxOutputTokens: 300 };
    const runtime = await testRuntime({ registry: agentOf({ small: { script, capabilities } }) });
    const thread = await runtime.start('question 0');
    for (let n = 1; n < 7; n++) await runtime.say(thread, `question ${n} `.padEnd(400, 'y'));
    const last = sent(script, 6);
    expect(roles(last)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(last.at(-1)?.content).toMatch(/^question 6 /);
    const told = (await runtime.store.events.read(thread, 0)).filter(
      (event) => event.type === 'context.trimmed',
    );
    expect(told.at(-1)).toMatchObject({ step: 7, data: { messages: 6 } });
    expect(new Set(told.map(({ step }) => step)).size).toBe(told.length);
    expect(await runtime.messages(thread)).toHaveLength(14);
  });

  it('[runtime 4] a window without room for the past still includes the current execution', async () => {
    const look = defineTool({
      description: 'looks',
      execute: () => ({ status: 'success', result: 'z'.repeat(4000) }),
    });
    const script = scriptedModel([says('past'), calls('look'), says('done')]);
    const capabilities = { maxContextTokens: 100 };
    const runtime = await testRuntime({
      registry: agentOf({ small: { script, capabilities } }, {}, { look }),
    });
    const thread = await runtime.start('before');
    await runtime.say(thread, 'now');
    expect(roles(sent(script, 2))).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle' });
  });
});
