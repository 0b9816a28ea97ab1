/**
 * A call of a tool that the client runs: a durable wait that occupies no process and is answered by the client's next
 * request. It passes the tool gate like any call.
 */
import type { ToolDefinition } from '../../core/author/definition.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import {
  type ClientTool,
  clientCapability,
  clientToolName,
  readResultValue,
} from '../../core/project/client-tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { readClientTools } from '../model/client-offer.ts';

export async function findClientTool(
  ports: Pick<ActivityDependencies, 'store'>,
  threadId: string,
  called: string,
): Promise<ToolDefinition | undefined> {
  const tools = await readClientTools(ports, threadId);
  const tool = tools.find((each) => clientToolName(each.name) === called);
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
  const { value } = await state.ask({ key: 'client', question: `The client must run its tool "${name}".` });
  return readResultValue(value);
}
