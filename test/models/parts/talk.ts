/** A conversation without a store: the rows of a thread, sent and kept as a step does. */
import { textDigest } from '../../../src/activities/model-gate/assemble.ts';
import { cleanCalls } from '../../../src/core/answer/clean-calls.ts';
import type { ModelDefinition } from '../../../src/core/author/definition.ts';
import type { ContextMessage } from '../../../src/core/context/context.ts';
import { toProviderMessage } from '../../../src/core/context/context-provider.ts';
import { sanitiseHistory } from '../../../src/core/context/sanitise.ts';
import { sealParts } from '../../../src/core/message/answer-parts.ts';
import type { ProviderRequest, ProviderTool } from '../../../src/core/message/provider.ts';
import { type AttemptEnd, callModel } from '../../../src/models/call-model.ts';

const ADD: ProviderTool = {
  type: 'function',
  function: { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: {} } },
};

/** Runs at the provider. */
const SEARCH: ProviderTool = {
  type: 'function',
  function: { name: 'anthropic.web_search_20250305', description: '', parameters: {} },
  executionMode: 'provider',
};

const EMPTY: Omit<ContextMessage, 'id' | 'role' | 'content' | 'created_at' | 'executionId'> = {
  ...{
    name: null,
    tool_calls: null,
    tool_call_id: null,
    parent_id: null,
    attachments: null,
    tool_status: null,
  },
  ...{ depth: 0, silent: false, metadata: {}, status: 'completed', step: null },
};

export function talk(includes = false) {
  const rows: ContextMessage[] = [];
  const ends: AttemptEnd[] = [];
  let execution = 0;

  function put(row: Partial<ContextMessage> & Pick<ContextMessage, 'role' | 'content'>): void {
    const id = `m${rows.length}`;
    rows.push({ ...EMPTY, ...row, id, created_at: rows.length, executionId: `x${execution}` });
  }

  function toRequest(model: ModelDefinition): ProviderRequest {
    const view = {
      ...{ pictures: new Map(), running: `x${execution}`, digest: textDigest },
      ...(includes ? { reasoningOf: 'main' } : {}),
    };
    const messages = sanitiseHistory(rows.map((row) => toProviderMessage(row, view)));
    return {
      model: model.model,
      messages,
      tools: [ADD, ...(model.model.startsWith('claude') ? [SEARCH] : [])],
      providerOptions: model.providerOptions,
    };
  }

  /** One answer of a model, with the results of its calls. */
  async function step(...models: readonly ModelDefinition[]): Promise<string | null> {
    const result = await callModel({
      models,
      request: toRequest,
      signal: new AbortController().signal,
      wait: async () => {},
      onAttemptEnd: (end) => void ends.push(end),
    });
    if (!result.ok) throw result.error;
    const { response } = result;
    const { calls } = cleanCalls(response, { step: rows.length, offered: () => new Set() });
    const { content, reasoning } = response;
    const toolCalls = calls.map(({ call }) => call);
    const parts = sealParts(response.parts, { content, reasoning, toolCalls }, textDigest) ?? null;
    const asked = toolCalls.map(({ id, name, arguments: given }) => ({
      ...{ id, type: 'function', function: { name, arguments: JSON.stringify(given) } },
    }));
    const tool_calls = asked.length > 0 ? JSON.stringify(asked) : null;
    put({
      role: 'assistant',
      content,
      reasoning: reasoning ?? null,
      prompt: 'main',
      tool_calls,
      parts,
      step: rows.length,
    });
    const { step: own = null } = rows.at(-1) ?? {};
    for (const { id } of toolCalls)
      put({ role: 'tool', content: '3', name: 'add', tool_call_id: id, step: own });
    return content;
  }

  return {
    rows,
    ends,
    /** Begins a turn. */
    say(content: string): void {
      execution += 1;
      put({ role: 'user', content });
    },
    step,
  };
}
