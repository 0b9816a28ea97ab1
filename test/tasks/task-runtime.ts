/** A runtime whose project has tasks, and no agents unless a test gives some. */
import { type RegistryInput, registryFrom } from '../../src/definitions/index.ts';
import { type RuntimeOptions, testRuntime } from '../support/runtime.ts';

type Tasks = NonNullable<RegistryInput['tasks']>;

export function taskRuntime(
  tasks: Tasks,
  options: Omit<RuntimeOptions, 'registry'> & { readonly project?: RegistryInput } = {},
) {
  const { project = {}, ...rest } = options;
  return testRuntime({ ...rest, registry: registryFrom({ ...project, tasks }) });
}
