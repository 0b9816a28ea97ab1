/**
 * `everthread dev` replaces the project when a file changes. An attempt at an activity goes by one project from its begin to its
 * end, or a step would name the tools of one and run the hooks of another.
 */
import type { Registry } from '../../core/author/definition.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { Activity } from './guard.ts';

/** `bind` makes the activity anew for each attempt, from ports whose project stays the one that it was first asked for. */
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
