/** What is kept of an answer of an AI SDK model: its parts in their order, with the metadata that each brought. */
import { describe, expect, it } from '@jest/globals';
import type { AiSdkPart } from '../../../src/models/ai-sdk-model.ts';
import { collectParts } from '../../../src/models/ai-sdk-parts.ts';

function partsOf(...given: (AiSdkPart & Record<string, unknown>)[]) {
  const collector = collectParts('provider:model');
  for (const part of given) collector.add(part);
  return collector.parts()?.list;
}

describe('the parts of an answer', () => {
  it('merge the metadata of their start, deltas and end; the later value wins', () => {
    expect(
      partsOf(
        {
          type: 'reasoning-start',
          id: '1',
          providerMetadata: { openai: { itemId: 'rs_1', encrypted: null } },
        },
        { type: 'reasoning-delta', id: '1', delta: 'Hm' },
        { type: 'text-start', id: '1' },
        { type: 'reasoning-delta', id: '1', delta: '', providerMetadata: { openai: { signature: 's' } } },
        { type: 'text-delta', id: '1', delta: 'So.' },
        { type: 'reasoning-end', id: '1', providerMetadata: { openai: { itemId: 'rs_1', encrypted: 'x' } } },
        { type: 'text-end', id: '1', providerMetadata: { openai: { itemId: 'msg_1', phase: 'final' } } },
        {
          type: 'tool-input-start',
          id: 'c1',
          toolName: 'add',
          providerMetadata: { openai: { async: true } },
        },
        { type: 'tool-call', toolCallId: 'c1', providerMetadata: { openai: { itemId: 'fc_1' } } },
      ),
    ).toEqual([
      {
        type: 'reasoning',
        text: 'Hm',
        metadata: { openai: { signature: 's', encrypted: 'x', itemId: 'rs_1' } },
      },
      { type: 'text', text: 'So.', metadata: { openai: { phase: 'final' } } },
      { type: 'call', id: 'c1', metadata: { openai: { async: true } } },
    ]);
  });

  it('of complete answers are stored: hidden reasoning, provider tools, files as base64, the last of several results', () => {
    const search = { toolCallId: 's1', toolName: 'search' };
    expect(
      partsOf(
        { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'x' } } },
        { type: 'tool-call', ...search, input: '{}', providerExecuted: true },
        { type: 'tool-result', ...search, result: 'some', preliminary: true },
        { type: 'tool-result', ...search, result: 'all' },
        { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2]) },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQI=' } },
        { type: 'source', sourceType: 'url', url: 'https://example.com' },
        { type: 'text', text: 'Found.' },
      ),
    ).toEqual([
      { type: 'reasoning', text: '', metadata: { anthropic: { redactedData: 'x' } } },
      { type: 'other', value: { type: 'tool-call', ...search, input: '{}', providerExecuted: true } },
      { type: 'other', value: { type: 'tool-result', ...search, result: 'all' } },
      { type: 'other', value: { type: 'file', mediaType: 'image/png', data: 'AQI=' } },
      { type: 'other', value: { type: 'file', mediaType: 'image/png', data: 'AQI=' } },
      { type: 'other', value: { type: 'source', sourceType: 'url', url: 'https://example.com' } },
      { type: 'text', text: 'Found.' },
    ]);
  });

  it('are empty if the answer has no metadata beyond item ids', () => {
    expect(
      partsOf(
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text-start', id: '1', providerMetadata: { openai: { itemId: 'msg_1' } } },
        { type: 'text-delta', id: '1', delta: 'So.' },
        { type: 'custom', kind: 'anthropic.message_start', providerMetadata: { anthropic: { id: 'msg_1' } } },
        { type: 'tool-call', toolCallId: 'c1' },
      ),
    ).toBeUndefined();
  });
});
