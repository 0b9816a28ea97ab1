/** `defineA2aAgent`: problems name the file and the field, and the names that prompts list resolve. */
import { describe, expect, it } from '@jest/globals';
import { defineA2aAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import { modelInput, promptInput } from './sample.ts';

const AGENT = { description: 'Knows things.', url: 'https://agents.example.com/a2a/expert' };

function problemsOf(work: () => unknown): string {
  try {
    work();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('defineA2aAgent', () => {
  it.each<[string, object, string]>([
    ['needs an address', { url: undefined }, 'url'],
    ['takes http alone', { url: 'file:///etc/passwd' }, 'url'],
    ['needs words for models', { description: '' }, 'description'],
    ['has origins that are addresses', { origins: ['elsewhere'] }, 'origins[0]'],
    ['names variables that it declares', { headers: { authorization: '{{KEY}}' } }, 'headers.authorization'],
    ['has no unknown field', { token: 'x' }, 'write headers, with {{NAME}} for a variable'],
  ])('%s', (_title, change, told) => {
    expect(problemsOf(() => defineA2aAgent({ ...AGENT, ...change } as typeof AGENT))).toContain(told);
  });

  it('is a tool of the prompts that list it, with its author’s description, and needs its capability', () => {
    const registry = registryFrom({
      a2aAgents: { expert: defineA2aAgent(AGENT) },
      prompts: [prompt('a2a:expert')],
      models: [defineModel(modelInput())],
    });
    expect(registry.tools.get('a2a__expert')).toMatchObject({
      description: 'Knows things.',
      capabilities: ['a2a.expert'],
      idempotent: true,
      asks: true,
    });
  });

  it.each([
    ['a2a:nobody', 'an A2A agent'],
    ['a2a:no/body', 'write a2a:<name>'],
  ])('is reported if a prompt lists %s, which does not exist', (name, told) => {
    expect(problemsOf(() => registryFrom({ prompts: [prompt(name)] }))).toContain(told);
  });
});

function prompt(tool: string) {
  return definePrompt(promptInput({ tools: [tool] }));
}
