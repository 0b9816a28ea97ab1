/** A box of another Everthread: as a backend, as the model of an agent here, and as the source of a chat turn. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import { backendProvider, createSandboxPromptBackend, remoteBox } from '../../src/faces/tangle/index.ts';
import { fails, says, scriptedModel } from '../../src/testing/index.ts';
import { collect } from '../projections/golden.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

const input = { task: { id: 't', intent: 'answer' }, message: 'hello' };

describe('a box of another Everthread instance', () => {
  it('[TG-17] answers as a backend, and the same turn is prompted once', async () => {
    const far = await testRuntime({ model: scriptedModel([says('From afar.')]) });
    const { url } = await testApi(far);
    const backend = createSandboxPromptBackend({ box: remoteBox({ url, agent: 'helper' }) });
    const turnId = randomUUID();
    const events = await collect(backend.stream(input, { turnId }));
    expect(events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('')).toBe(
      'From afar.',
    );
    expect(events.filter(({ type }) => type === 'llm_call')).toHaveLength(1);
    expect(await collect(backend.stream(input, { turnId }))).toEqual(events);
  });

  it('[TG-17] is the model of a local agent: one remote run, however often it is requested', async () => {
    const far = await testRuntime({ model: scriptedModel([says('From afar.')]) });
    const { url } = await testApi(far);
    const provider = backendProvider(
      createSandboxPromptBackend({ box: remoteBox({ url, agent: 'helper' }) }),
    );
    const near = await testRuntime({
      fresh: true,
      registry: registryFrom({
        agents: [defineAgent({ name: 'near', sideA: { prompt: 'main' } })],
        prompts: [
          definePrompt({
            ...{ name: 'main', toolDescription: 'answers', prompt: 'You answer.', model: 'far' },
            includeChat: true,
          }),
        ],
        models: [defineModel({ name: 'far', provider, model: 'far' })],
      }),
    });
    const { threadId } = await near.client.startThread({ agent: 'near', messages: [{ content: 'hello' }] });
    await near.client.waitForIdle(threadId);
    expect(await near.transcript(threadId)).toEqual(['user: hello', 'assistant: From afar.']);
    // The same request again, as a worker that takes over would send it.
    const request = {
      model: 'far',
      messages: [
        { role: 'system', content: 'You answer.' },
        { role: 'user', content: 'hello' },
      ],
      user: threadId,
    } as const;
    const answer = await provider({ apiKey: '' }).generate(request);
    expect(answer).toMatchObject({ content: 'From afar.', finishReason: 'stop' });
  });

  it('reports a remote failure with its own message', async () => {
    const far = await testRuntime({ model: scriptedModel([fails({ status: 400, message: 'too long' })]) });
    const { url } = await testApi(far);
    const backend = createSandboxPromptBackend({ box: remoteBox({ url, agent: 'helper' }) });
    await expect(collect(backend.stream(input, { turnId: randomUUID() }))).rejects.toMatchObject({
      code: 'BackendFailed',
      message: expect.stringContaining('too long'),
    });
  });
});
