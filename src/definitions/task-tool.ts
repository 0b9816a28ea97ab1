/**
 * Turns the tasks of a project into tool definitions, so that they are offered, dispatched and logged like all tools.
 * The engine runs the task that a call starts.
 */
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
    description: toolDescription ?? `Runs the task ${name} and returns how it ended.`,
    // Validated as the task's inputs (activities/subagent/task-call.ts).
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

/** Parameters of a task without `requiredSchema`. */
const ANY_INPUTS: JsonSchema = { type: 'object', properties: {}, additionalProperties: true };
