/** Clients serialise fields that they do not use as null: such a field counts as absent, at every endpoint. */
import { describe, expect, it } from '@jest/globals';
import { sendParams } from '../../../src/server/api/a2a/a2a-request.ts';
import { listParams } from '../../../src/server/api/a2a/task-list.ts';
import { agUiBody } from '../../../src/server/api/ag-ui/ag-ui-request.ts';
import { chatBody } from '../../../src/server/api/chat/chat-request.ts';
import { completionBody } from '../../../src/server/api/completions/completion-request.ts';

type Json = { [key: string]: unknown } | unknown[];
type Path = readonly string[];

const called = { name: 'look', arguments: '{}' };
const agUiPart = {
  ...{ type: 'image', text: 't', mimeType: 'image/png', data: 'AA==', url: 'https://example.com/a.png' },
  ...{ filename: 'a.png', source: { type: 'data', value: 'AA==', mimeType: 'image/png' } },
};
const tool = { name: 'look', description: 'looks', parameters: {} };

const BODIES = {
  completions: [
    completionBody,
    {
      ...{ model: 'helper', stream: true, stream_options: { include_usage: true }, user: 'u', n: 1 },
      ...{ metadata: { thread_id: 't' }, tools: [{ type: 'function', function: tool }], tool_choice: 'auto' },
      ...{ response_format: { type: 'text' }, modalities: ['text'], logprobs: false },
      messages: [
        {
          ...{ role: 'assistant', tool_calls: [{ id: 'c', function: called }], tool_call_id: 'c' },
          content: [
            {
              ...{ type: 'text', text: 'a', refusal: 'b', image_url: { url: 'u' } },
              file: { file_data: 'data:', filename: 'f' },
            },
          ],
        },
      ],
    },
  ],
  'ag-ui': [
    agUiBody,
    {
      ...{ threadId: 't', runId: 'r', tools: [tool], forwardedProps: { arguments: {} } },
      resume: [{ interruptId: 'i', status: 'resolved', payload: 1 }],
      messages: [
        {
          ...{ id: 'm', role: 'user', content: [agUiPart], toolCallId: 'c', error: 'e' },
          toolCalls: [{ id: 'c', function: called }],
        },
      ],
    },
  ],
  chat: [
    chatBody,
    {
      ...{ id: 't', trigger: 'submit-message', arguments: {}, message: { id: 'm', role: 'user', parts: [] } },
      messages: [
        {
          ...{ id: 'm', role: 'assistant' },
          parts: [
            {
              ...{ type: 'text', text: 't', url: 'u', mediaType: 'm', filename: 'f', state: 's' },
              ...{ approval: { id: 'a', approved: true, reason: 'r' }, toolName: 'n', toolCallId: 'c' },
              ...{ input: 1, output: 1, errorText: 'e' },
            },
          ],
        },
      ],
    },
  ],
  'A2A message': [
    sendParams,
    {
      message: {
        ...{ messageId: 'm', role: 'ROLE_USER', contextId: 'c', taskId: 't' },
        parts: [{ text: 't', raw: 'AA==', url: 'u', data: 1, mediaType: 'm', filename: 'f' }],
      },
      configuration: { historyLength: 1, returnImmediately: true, taskPushNotificationConfig: {} },
    },
  ],
  'A2A list': [
    listParams,
    {
      ...{ contextId: 'c', status: 'TASK_STATE_WORKING', pageSize: 1, pageToken: 'p', historyLength: 1 },
      ...{ statusTimestampAfter: '2026-01-01T00:00:00Z', includeArtifacts: true },
    },
  ],
} as const;

describe.each(Object.entries(BODIES))('a request: %s', (_, [schema, body]) => {
  const copy = (path: Path, change: (owner: Record<string, unknown>, key: string) => void) => {
    const whole = structuredClone(body) as Json;
    const owner = path.slice(0, -1).reduce<unknown>((at, key) => (at as never)[key], whole);
    change(owner as Record<string, unknown>, path.at(-1) as string);
    return schema.safeParse(whole);
  };
  const paths = pathsOf(body);
  const optional = paths.filter((path) => copy(path, (owner, key) => delete owner[key]).success);

  it('takes null for each optional field', () => {
    expect(schema.safeParse(body).error).toBeUndefined();
    expect(optional.length).toBeGreaterThan(3);
    const refused = optional.filter((path) => {
      const absent = copy(path, (owner, key) => delete owner[key]);
      const given = copy(path, (owner, key) => {
        owner[key] = null;
      });
      return !given.success || JSON.stringify(shape(given.data)) !== JSON.stringify(shape(absent.data));
    });
    expect(refused.map((path) => path.join('.'))).toEqual([]);
  });
});

/** Paths of all members of objects. */
function pathsOf(value: unknown, at: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const path = [...at, key];
    return [...(Array.isArray(value) ? [] : [path]), ...pathsOf(member, path)];
  });
}

/** The value without what is null or absent. */
function shape(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, member) => member ?? undefined);
}
