/** Which tool a provider's refusal means, in the words of each, and what is sent next. */
import { describe, expect, it } from '@jest/globals';
import { ProviderError, type ProviderRequest, type ProviderTool } from '../../src/core/message/provider.ts';
import { findRefusedTool, withoutTools } from '../../src/models/refused-tool.ts';
import { ask } from './support.ts';

const tool = (name: string): ProviderTool => ({
  type: 'function',
  function: { name, description: '', parameters: { type: 'object', properties: {} } },
});
const request: ProviderRequest = ask('x', {
  tools: ['add', 'take', 'mcp__files__read'].map(tool),
  toolChoice: 'auto',
});
const refusal = (message: string, status = 400) => new ProviderError(message, 'invalid_request', status);

describe('a refusal', () => {
  it.each([
    [
      "400 Invalid schema for function 'take': In context=('properties', 'x'), array schema missing items.",
      'take',
    ],
    [
      "400 Invalid schema for function 'mcp__files__read': 'any' is not valid under any of the given schemas",
      'mcp__files__read',
    ],
    [
      "400 Invalid 'tools[1].function.description': string too long. Expected a string with maximum length 1024.",
      'take',
    ],
    ["Invalid 'tools[2].function.name': string does not match pattern.", 'mcp__files__read'],
    ['tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12', 'take'],
    [
      "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
      'add',
    ],
    [
      '* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[x].enum[0]: cannot be empty',
      'take',
    ],
    [
      'Invalid JSON payload received. Unknown name "x" at \'request.tools[0].function_declarations[2].parameters\'',
      'mcp__files__read',
    ],
    ['Unable to submit request because function declaration `take` parameters schema is not valid.', 'take'],
  ])('is attributed to the tool that it names: %s', (message, name) => {
    expect(findRefusedTool(refusal(message), request)).toBe(name);
    expect(findRefusedTool(refusal(message, 422), request)).toBe(name);
  });

  it.each([
    ['of another status', refusal("Invalid schema for function 'take'", 500)],
    ['of a tool that was not sent', refusal("Invalid schema for function 'other'")],
    ['of a place that nothing has', refusal('tools.7.custom.input_schema: invalid')],
    ['of a call', refusal("No tool output found for function call call_1. Tool 'take' was called.")],
    ['of a message', refusal('messages[1].tool_calls[0].function.arguments: invalid')],
    ['for its length', refusal("This model's maximum context length is 8192 tokens.")],
  ])('is attributed to no tool: %s', (_, error) => {
    expect(findRefusedTool(error, request)).toBeUndefined();
  });

  it('of the required tool leaves no tool to drop', () => {
    const chosen = { ...request, toolChoice: { name: 'take' } };
    expect(findRefusedTool(refusal("Invalid schema for function 'take'"), chosen)).toBeUndefined();
  });
});

describe('the next request', () => {
  it('keeps the other tools, and drops the tool choice if none is left', () => {
    expect(withoutTools(request, new Set(['take'])).tools?.map((each) => each.function.name)).toEqual([
      'add',
      'mcp__files__read',
    ]);
    const bare = withoutTools(request, new Set(['add', 'take', 'mcp__files__read']));
    expect(bare).not.toHaveProperty('tools');
    expect(bare).not.toHaveProperty('toolChoice');
    expect(withoutTools(request, new Set())).toBe(request);
  });
});
