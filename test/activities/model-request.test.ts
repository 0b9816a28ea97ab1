/** What a model's definition adds to its requests (definitions §4, §5.2), and provider tools in them (§6.3). */
import { z } from 'zod';
import type { McpOffer } from '../../src/activities/model/mcp-offer.ts';
import { buildRequest } from '../../src/activities/model/request.ts';
import { findActiveSide } from '../../src/core/project/active-side.ts';
import { refuseClientTools } from '../../src/core/project/client-tool.ts';
import { registryFrom } from '../../src/definitions/index.ts';
import { agent, model, project, prompt } from '../definitions/sample.ts';
import { refuseSchema } from '../support/tool-schema-rules.ts';

/** Builds the request of the sample project's agent. */
function requestOf(ofModel: object, ofPrompt: object = {}, tools = {}, ofAgent: object = {}, mcp?: McpOffer) {
  const registry = registryFrom(
    project({ agents: [agent(ofAgent)], models: [model(ofModel)], prompts: [prompt(ofPrompt)] }),
  );
  const active = findActiveSide(registry, 'helper', 'a');
  const asked = registry.models.get('fast');
  if (!active || !asked) throw new Error('The sample has no agent.');
  const step = { threadId: 't', messages: [], subagents: { enabled: [], living: false }, mcp };
  return buildRequest(registry, active, { model: asked, tools }, step);
}

describe('[definitions 4] a request has these fields of its model definition:', () => {
  it('the maximum output tokens, and the allowed providers', () => {
    expect(
      requestOf({ capabilities: { maxOutputTokens: 500 }, includedProviders: ['a', 'b'] }),
    ).toMatchObject({
      maxOutputTokens: 500,
      includedProviders: ['a', 'b'],
    });
    const bare = requestOf({});
    expect(bare).not.toHaveProperty('maxOutputTokens');
    expect(bare).not.toHaveProperty('includedProviders');
  });

  it('its options, overridden by those of the prompt, key by key', () => {
    const own = { seed: 1, extra: { a: 1 } };
    const { providerOptions } = requestOf({ providerOptions: own }, { providerOptions: { extra: { b: 2 } } });
    expect(providerOptions).toEqual({ seed: 1, extra: { b: 2 } });
  });

  it('the response format, unless the model has no JSON mode', () => {
    const providerOptions = { responseFormat: { type: 'json_object' }, seed: 7 };
    expect(requestOf({}, { providerOptions })).toMatchObject({
      responseFormat: { type: 'json_object' },
      providerOptions: { seed: 7 },
    });
    const without = requestOf({ capabilities: { supportsJsonMode: false } }, { providerOptions });
    expect(without).not.toHaveProperty('responseFormat');
    expect(without.providerOptions).toEqual({ seed: 7 });
  });
});

describe('[definitions 6.3] a provider tool', () => {
  const draw = { description: 'Draws.', args: z.object({ what: z.string() }) };
  const drawn = {
    type: 'function',
    function: {
      name: 'draw',
      description: 'Draws.',
      parameters: expect.objectContaining({
        properties: { what: { type: 'string' } },
        additionalProperties: false,
      }),
    },
    executionMode: 'provider',
    options: {},
  };

  it('is described by the provider', () => {
    expect(requestOf({ providerTools: ['draw'] }, { tools: ['draw'] }, { draw }).tools).toEqual([drawn]);
  });

  it('is offered by its prefix if only the provider lists it, and not otherwise', () => {
    expect(requestOf({}, { tools: ['provider:draw'] }, { draw }).tools).toEqual([drawn]);
    expect(requestOf({}, { tools: ['provider:draw'] }, {}).tools).toBeUndefined();
  });

  it.each([
    ['provider.draw', true],
    ['provider.*', true],
    ['files.*', false],
  ])('is sent under a policy only if a rule allows it, as %s does: %s', (name, sent) => {
    const policy = { rules: { [name]: 'allow' }, default: 'allow' };
    const { tools = [] } = requestOf({ providerTools: ['draw'] }, { tools: ['draw'] }, {}, { policy });
    expect(tools.length > 0).toBe(sent);
  });
});

describe('a tool described by a client or server', () => {
  const foreign = (name: string, parameters: Record<string, unknown>) =>
    [name, { name, description: name, parameters }] as const;

  it('is offered in a form that providers accept, or not at all', () => {
    const mcp = new Map([
      foreign('client__bare', { type: 'object' }),
      foreign('client__empty', {}),
      foreign('client__either', { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }),
      foreign('client__text', { type: 'string' }),
    ]);
    const { tools = [] } = requestOf({}, {}, {}, {}, mcp);
    expect(tools.map((tool) => tool.function.name)).toEqual([
      'client__bare',
      'client__empty',
      'client__either',
    ]);
    expect(tools.map((tool) => refuseSchema(tool.function.parameters))).toEqual(tools.map(() => undefined));
  });

  it('is refused if its arguments are not an object', () => {
    const tool = { name: 'say', description: '', parameters: { type: 'string' } };
    expect(refuseClientTools([tool])).toBe('the parameters of "say" must be the schema of an object');
    expect(refuseClientTools([{ ...tool, parameters: {} }])).toBeUndefined();
  });
});
