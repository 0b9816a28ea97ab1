/** Variables used as settings of a provider (definitions §5.1, §16): those of the thread that makes the request. */
import type { PromptDefinition } from '../../core/author/definition.ts';
import { ProviderError } from '../../core/message/provider.ts';
import { resolveVariable } from '../../core/project/env.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { VariableLookup } from '../../models/provider-config.ts';
import { readEnvPlace } from '../../state/env-place.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';

/**
 * If values cannot be decrypted, the lookup throws ProviderError 'invalid_request': the step fails with that reason.
 */
export async function readProviderVariables(
  sources: Pick<ActivityDependencies, 'store' | 'registry'>,
  thread: ThreadRecord,
  prompt: PromptDefinition,
): Promise<VariableLookup> {
  try {
    const place = await readEnvPlace(sources, thread, { prompt });
    return (name) => resolveVariable(name, place)?.value;
  } catch (error) {
    if (!isRuntimeError(error, 'InvalidConfiguration')) throw error;
    return () => {
      throw new ProviderError(error.message, 'invalid_request');
    };
  }
}
