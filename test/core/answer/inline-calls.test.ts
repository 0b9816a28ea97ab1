/** Calls within a text: those in a wrapper made for calls are found, mere mentions of a tool are not. */
import { describe, expect, it } from '@jest/globals';
import { findInlineCalls, mayHoldCalls } from '../../../src/core/answer/inline-calls.ts';
import { LIMITS } from '../../../src/core/value/limit.ts';

const OFFERED = new Set(['look', 'look_up', 'check_resources']);
const find = (text: string) =>
  findInlineCalls(text, OFFERED).map(({ name, text: args }) => `${name}(${args})`);

describe('a call within a text', () => {
  it.each<[string, string, string[]]>([
    ['[AX-52] in its tag', '<tool_code>check_resources()</tool_code>', ['check_resources()']],
    ['in its tag, among words', 'So:\n<tool_code>\nlook({"at":1})\n</tool_code>\nNow.', ['look({"at":1})']],
    ['in a fence of that name', '```tool_code\nlook({})\n```', ['look({})']],
    ['that is to be printed', '<tool_code>print(look({"at":1}))</tool_code>', ['look({"at":1})']],
    ['as an object', '<tool_call>\n{"name":"look","arguments":{"at":1}}\n</tool_call>', ['look({"at":1})']],
    ['as an object without arguments', '<tool_call>{"name":"look"}</tool_call>', ['look({})']],
    [
      'beside others, in their order',
      '<tool_call>{"name":"look_up"}</tool_call><tool_call>{"name":"look","arguments":"{}"}</tool_call>',
      ['look_up({})', 'look({})'],
    ],
    [
      'behind another in one tag',
      '<tool_code>look()\nlook_up({"a":1});</tool_code>',
      ['look()', 'look_up({"a":1})'],
    ],
    ['[AX-53] that is all of the text', ' look({"at":1})\n', ['look({"at":1})']],
    [
      '[AX-56] with a bracket in a text',
      'look({"at":"the (first) door)"})',
      ['look({"at":"the (first) door)"})'],
    ],
    [
      '[AX-56] with brackets in a text, in its tag',
      '<tool_code>look({"at":")\\")"})</tool_code>',
      ['look({"at":")\\")"})'],
    ],
    [
      'whose arguments are no object, in its tag: it is refused, not run without them',
      '<tool_code>look(1, 2)</tool_code>',
      ['look(1, 2)'],
    ],
  ])('is found %s', (_, text, expected) => {
    expect(find(text)).toEqual(expected);
    expect(mayHoldCalls(text)).toBe(true);
  });

  it.each<[string, string]>([
    ['[AX-54] a tool that is not offered', '<tool_code>delete_all()</tool_code>'],
    [
      '[AX-54] a tool that is not offered, as an object',
      '<tool_call>{"name":"delete_all","arguments":{}}</tool_call>',
    ],
    ['[AX-54] a tool that is not offered, as all of the text', 'delete_all({"x":1})'],
    ['[AX-54] a tool that is not offered, beside one that is', '<tool_code>look() delete_all()</tool_code>'],
    ['[AX-57] a sentence that mentions a tool', 'You could call look() to see, or look({"at":1}).'],
    ['[AX-57] a sentence that begins with a tool', 'look() is what I would call.'],
    ['[AX-57] a sentence that ends with a tool', 'I would call look()'],
    ['[AX-57] words of a tool and an object', 'look at this: {"name":"look","arguments":{}}'],
    ['[AX-57] an example in a fence', '```python\nlook({"at":1})\n```'],
    ['[AX-57] an example of a tag in a fence', 'Write:\n```\n<tool_code>look()</tool_code>\n```\nand wait.'],
    ['[AX-57] an example of a tag in a fence that does not close', '```\n<tool_code>look()</tool_code>'],
    ['[AX-57] a tag in backticks', 'Write `<tool_code>look()</tool_code>` and wait.'],
    ['a tag that does not close', '<tool_code>look({"at":1})'],
    ['a fence that does not close', '```tool_code\nlook({"at":1})'],
    ['arguments that do not close', '<tool_code>look({"at":1}</tool_code>'],
    ['a text whose call is not as one is written', 'look(the door)'],
    ['a tag with words beside the call', '<tool_code>I think look()</tool_code>'],
    ['an object without a name', '<tool_call>{"arguments":{}}</tool_call>'],
    ['nothing', ''],
  ])('is not found in %s', (_, text) => {
    expect(find(text)).toEqual([]);
  });

  it('is searched for in time linear in the text', () => {
    const many = (piece: string) => piece.repeat(Math.ceil(LIMITS.answerTextBytes / piece.length));
    for (const piece of [
      '<tool_code>',
      '<tool_call>',
      '```',
      '```\n',
      'look(',
      'print(',
      '<tool_code>look(',
      '({[',
      '"',
    ])
      expect([find(many(piece)), typeof mayHoldCalls(many(piece))]).toEqual([[], 'boolean']);
    const calls = '<tool_code>look()</tool_code>';
    expect(find(many(calls))).toHaveLength(LIMITS.answerCalls);
  });
});
