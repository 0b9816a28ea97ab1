/** Builders of core values; a test names only the fields that it is about. */

import type { AgentDefinition, PromptDefinition, PromptPart } from '../../src/core/author/definition.ts';
import type { ContextMessage } from '../../src/core/context/context.ts';
import type { Snapshot } from '../../src/core/thread/snapshot.ts';

export function aSnapshot(fields: Partial<Snapshot> = {}): Snapshot {
  return {
    version: 1,
    waiting: 3,
    inline: [{ kind: 'message', id: 'm9', role: 'user', content: 'later' }],
    taken: 1,
    seen: ['m7', 'm8', 'm9'],
    arrived: 12,
    afterStep: 5,
    turnOpen: true,
    parked: false,
    executionId: 'e1',
    steps: 2,
    totalSteps: 7,
    rejections: [{ code: 'InvalidMessage', reason: '"content" must be a non-empty string', id: 'bad' }],
    settings: {
      historySoftLimit: 2000,
      modelHeartbeatMs: 5000,
      stepsPerActivity: 20,
      secondsPerActivity: 30,
      toolHeartbeatMs: 10_000,
      searchAttributes: true,
    },
    storeId: '9e1f5a52-5d3c-4a0e-9d0b-6a3e7a1f2b3c',
    agent: 'helper',
    status: 'running',
    session: { side: 'b', turns: 3 },
    sideSteps: { a: 1, b: 1 },
    stopReason: null,
    ...fields,
  };
}

let messages = 0;

export function aMessage(fields: Partial<ContextMessage>): ContextMessage {
  messages += 1;
  return {
    id: `message-${messages}`,
    role: 'user',
    content: null,
    name: null,
    tool_calls: null,
    tool_call_id: null,
    created_at: messages,
    parent_id: null,
    depth: 0,
    silent: false,
    metadata: {},
    attachments: null,
    status: 'completed',
    tool_status: null,
    executionId: 'now',
    step: null,
    ...fields,
  };
}

/** JSON text of tool calls, as `Message.tool_calls` has it. */
export function someCalls(...calls: readonly (readonly [id: string, name: string, args?: string])[]): string {
  return JSON.stringify(
    calls.map(([id, name, args = '{}']) => ({ id, type: 'function', function: { name, arguments: args } })),
  );
}

export function anAgent(fields: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    kind: 'agent',
    name: 'helper',
    type: 'ai_human',
    sideA: { prompt: 'main', stopOnResponse: true },
    exposeAsTool: false,
    env: {},
    variables: [],
    hooks: [],
    ...fields,
  };
}

export function aPrompt(
  prompt: readonly PromptPart[],
  fields: Partial<PromptDefinition> = {},
): PromptDefinition {
  return {
    kind: 'prompt',
    name: 'main',
    toolDescription: 'the main prompt',
    prompt,
    model: 'scripted',
    includeChat: true,
    includePastTools: true,
    parallelToolCalls: false,
    toolChoice: 'auto',
    tools: [],
    variables: [],
    env: {},
    recentImageThreshold: 10,
    providerOptions: {},
    hooks: [],
    ...fields,
  };
}
