/** A prompt's parts as system text (definitions §6.2). */
import { describe, expect, it } from '@jest/globals';
import type { PromptPart } from '../../src/core/definition.ts';
import { interpolate, renderPrompt } from '../../src/core/prompt-text.ts';
import { aPrompt } from './sample.ts';

const text = (content: string): PromptPart => ({ type: 'text', content });

function render(
  parts: readonly PromptPart[],
  scope: Partial<Parameters<typeof renderPrompt>[0]> = {},
): string {
  return renderPrompt({
    prompt: aPrompt(parts),
    prompts: new Map(),
    variables: {},
    env: () => '',
    ...scope,
  });
}

describe('[definitions 22.15] interpolation', () => {
  it.each([
    ['Hello {{name}}.', { name: 'Ada' }, 'Hello Ada.'],
    ['Hello {{ name }}.', { name: 'Ada' }, 'Hello Ada.'],
    ['{{a}}{{a}}', { a: 'x' }, 'xx'],
    ['{{user.name}} {{a-b}}', { 'user.name': 'Ada', 'a-b': '1' }, 'Ada 1'],
    [
      '{{n}} {{yes}} {{none}} {{list}}',
      { n: 1, yes: true, none: null, list: [1, 'a'] },
      '1 true null [1,"a"]',
    ],
    ['{{unknown}} {{ }} {{a b}} {a}', { a: 'x' }, '{{unknown}} {{ }} {{a b}} {a}'],
    ['{{a}}', { a: '{{b}}', b: 'never' }, '{{b}}'],
    ['{{a}}', { a: "$& $1 $'" }, "$& $1 $'"],
    ['{{toString}} {{constructor}}', {}, '{{toString}} {{constructor}}'],
    ['{{empty}}', { empty: '' }, ''],
  ])('of %j with %j is %j', (template, variables, expected) => {
    expect(interpolate(template, variables)).toBe(expected);
  });
});

describe('[definitions 6.2] prompt parts', () => {
  it('are joined in their order', () => {
    expect(render([text('a'), text('b'), text('c')])).toBe('abc');
  });

  it("include other prompts, with the thread's arguments", () => {
    const prompts = new Map([
      ['outer', aPrompt([text('<'), { type: 'include', prompt: 'inner' }, text('>')])],
      ['inner', aPrompt([text('{{name}}')])],
    ]);
    expect(render([{ type: 'include', prompt: 'outer' }], { prompts, variables: { name: 'Ada' } })).toBe(
      '<Ada>',
    );
  });

  it('leave a mark where an included prompt is missing', () => {
    expect(render([{ type: 'include', prompt: 'gone' }])).toContain('"gone"');
  });

  it('show the value of a variable as it is: what it says is not interpolated', () => {
    const part: PromptPart = { type: 'env', property: 'TONE' };
    const env = (name: string) => `<${name} {{name}}>`;
    expect(render([text('{{name}}: '), part], { env, variables: { name: 'Ada' } })).toBe(
      'Ada: <TONE {{name}}>',
    );
  });
});
