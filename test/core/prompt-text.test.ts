/** A prompt's parts as system text (definitions §6.2). */
import { describe, expect, it } from '@jest/globals';
import type { PromptPart } from '../../src/core/author/definition.ts';
import { interpolate, renderPrompt } from '../../src/core/project/prompt-text.ts';
import { definePrompt } from '../../src/definitions/index.ts';
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
  it('are joined in order', () => {
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

  it('mark a missing included prompt', () => {
    expect(render([{ type: 'include', prompt: 'gone' }])).toContain('"gone"');
  });

  it('of older formats mean the same: text, include, and a variable, left as written if unknown', () => {
    const { prompt } = definePrompt({
      name: 'main',
      toolDescription: 'main',
      model: 'm',
      prompt: [
        { type: 'string', value: 'Hello ' },
        { type: 'variable', value: 'name' },
        { type: 'variable', value: 'tags' },
        { type: 'variable', value: 'unknown' },
        { type: 'prompt', id: 'inner', label: 'The inner one' },
      ],
    });
    const prompts = new Map([['inner', aPrompt([text('!')])]]);
    expect(render(prompt, { prompts, variables: { name: 'Ada', tags: ['a', 1] } })).toBe(
      'Hello Ada["a",1]{{unknown}}!',
    );
  });

  it('include a prompt each time they name it, with its environment values', () => {
    const prompts = new Map([
      ['left', aPrompt([{ type: 'include', prompt: 'base' }])],
      ['right', aPrompt([{ type: 'include', prompt: 'base' }])],
      ['base', aPrompt([{ type: 'env', property: 'TONE' }, text('{{name}} ')])],
    ]);
    const parts: PromptPart[] = [
      { type: 'include', prompt: 'left' },
      { type: 'include', prompt: 'right' },
    ];
    expect(render(parts, { prompts, variables: { name: 'Ada' }, env: () => 'kind ' })).toBe(
      'kind Ada kind Ada ',
    );
  });

  it('are empty without a value or without parts', () => {
    expect(render([{ type: 'env', property: 'NOTHING' }])).toBe('');
    expect(render([])).toBe('');
  });

  it('insert the value of a variable without interpolating it', () => {
    const part: PromptPart = { type: 'env', property: 'TONE' };
    const env = (name: string) => `<${name} {{name}}>`;
    expect(render([text('{{name}}: '), part], { env, variables: { name: 'Ada' } })).toBe(
      'Ada: <TONE {{name}}>',
    );
  });
});
