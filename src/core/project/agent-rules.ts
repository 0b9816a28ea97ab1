/** The rules of an agent that hold for its steps and executions, resolved from the project at once. Pure. */
import type { Registry } from '../author/registry.ts';
import type { BudgetDefinition } from '../governance/budget.ts';
import { findGuards } from '../guard/guards.ts';
import type { RoundLimits } from '../guard/round.ts';
import type { TeamGuard } from '../guard/team.ts';
import type { StepLimits } from '../thread/step-limit.ts';
import { findActiveSide, hasTwoSides } from './active-side.ts';
import { findManifest } from './new-task.ts';

export interface AgentRules {
  /** Checked before each step; absent if the worker does not know the agent, whose step then fails. */
  readonly limits?: StepLimits;
  /** For an execution that begins. */
  readonly budget?: BudgetDefinition;
  /** How many rounds a turn may take, and how many calls in a row may fail; stored when an execution begins. */
  readonly rounds?: RoundLimits;
  /** How large its team may grow in a turn; stored when an execution begins. */
  readonly team?: TeamGuard;
  /** Hash of the manifest that names it as its `run`; logged when an execution begins. */
  readonly manifest?: string;
  /** Set if its last answer has a type; logged when an execution begins. */
  readonly typed?: true;
  /** Its model is told what effects a superseded part of the history had. */
  readonly notesSuperseded?: true;
}

export function rulesOf(registry: Registry, name: string): AgentRules {
  const manifest = findManifest(registry, name)?.hash;
  const agent = registry.agents.get(name);
  if (!agent) return { manifest };
  const { sideA, maxSessionTurns, budget, supersede, guards: { team, failures } = {} } = agent;
  const limits = hasTwoSides(agent)
    ? { maxSteps: { a: sideA.maxSteps, b: agent.sideB.maxSteps }, maxSessionTurns }
    : { maxSteps: { a: sideA.maxSteps } };
  const rounds = (['a', 'b'] as const).flatMap((which) => {
    const active = findActiveSide(registry, name, which);
    const guard = findGuards(active?.agent, active?.prompt).rounds;
    return guard ? [[which, guard.max], ...(guard.pause ? [['pause', true]] : [])] : [];
  });
  const bounds = { ...Object.fromEntries(rounds), ...(failures && { failures: failures.max }) };
  const typed = sideA.output && (true as const);
  return {
    limits,
    budget,
    team,
    manifest,
    typed,
    rounds: Object.keys(bounds).length > 0 ? bounds : undefined,
    ...(supersede?.note && { notesSuperseded: true as const }),
  };
}
