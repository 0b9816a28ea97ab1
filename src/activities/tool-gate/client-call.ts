/**
 * A call of a tool that its client runs: a durable wait, in no process, which the client's next request answers. It passes the tool gate as any call does.
 */
import type { ToolDefinition } from '../../core/author/definition.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { type ClientTool, clientCapability, clientToolName } from '../../core/project/client-tool.ts';
import { isRecord } from '../../core/value/record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { readClientTools } from '../model/client-offer.ts';

export async function findClientTool(
  ports: Pick<ActivityDependencies, 'store'>,
  threadId: string,
  name: string,
): Promise<ToolDefinition | undefined> {
  const tools = await readClientTools(ports, threadId);
  const tool = tools.find((each) => each.name === name);
  return tool && toDefinition(tool);
}

function toDefinition({ name, description, parameters }: ClientTool): ToolDefinition {
  return {
    kind: 'tool',
    name: clientToolName(name),
    description,
    parameters,
    execute: (state) => askClient(state, name),
    variables: [],
    executionMode: 'local',
    idempotent: true,
    quick: true,
    timeoutMs: 10_000,
    capabilities: [clientCapability(name)],
    asks: true,
  };
}

async function askClient(state: ThreadState, name: string): Promise<ToolResult> {
  const { value } = await state.ask({ key: 'client', question: `The client is to run its tool "${name}".` });
  // As AG-UI's clients tell what went wrong.
  if (isRecord(value) && typeof value.error === 'string') return { status: 'error', error: value.error };
  return { status: 'success', result: typeof value === 'string' ? value : JSON.stringify(value) };
}
