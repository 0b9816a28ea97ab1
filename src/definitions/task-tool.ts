/** The tasks of a project as definitions like any tool: so calls of them are offered, dispatched and told as calls are. What a call leads to is the engine's. */
import { z } from 'zod';
import type { ToolDefinition } from '../core/author/definition.ts';
import type { TaskDefinition } from '../core/author/task.ts';
import { TASK_CAPABILITY, taskToolName } from '../core/project/task-tool.ts';
import { markDefinition } from './definition-mark.ts';
import { type JsonSchema, toParameters } from './tool-schema.ts';

export function toTaskTool({ name, toolDescription, requiredSchema }: TaskDefinition): ToolDefinition {
  return markDefinition<ToolDefinition>({
    kind: 'tool',
    name: taskToolName(name),
    description: toolDescription ?? `Runs the task ${name}, and answers how it ended.`,
    // Checked as inputs of the task (activities/subagent/task-call.ts).
    args: requiredSchema ?? z.looseObject({}),
    parameters: requiredSchema ? toParameters(requiredSchema) : ANY_INPUTS,
    execute: () => ({ status: 'error', error: `"${name}" is run as a task.` }),
    variables: [],
    executionMode: 'local',
    idempotent: true,
    quick: false,
    timeoutMs: 1000,
    capabilities: [TASK_CAPABILITY],
    startsTask: name,
  });
}

/** Of a task that does not say what it takes. */
const ANY_INPUTS: JsonSchema = { type: 'object', properties: {}, additionalProperties: true };
