/**
 * `everthread dev` replaces the project when a file changes. An attempt at an activity uses one project from beginning
 * to end; otherwise a step could name the tools of one and run the hooks of another.
 */
import type { Registry } from '../../core/author/registry.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { Activity } from './guard.ts';

/** Calls `bind` for each attempt. Its `registry` returns, throughout the attempt, the project of the first call. */
export function onOneProject<Input, Output>(
  dependencies: ActivityDependencies,
  bind: (dependencies: ActivityDependencies) => Activity<Input, Output>,
): Activity<Input, Output> {
  return (input) => {
    let project: Registry | undefined;
    const registry = () => {
      project ??= dependencies.registry();
      return project;
    };
    return bind({ ...dependencies, registry })(input);
  };
}
