/**
 * Stage: stores images that a model has made as files of the thread and attachments of its answer (definitions §5.3,
 * §15.4).
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { go } from '../../author/policy/gate.ts';
import { storeAttachments } from '../../author/state/attachments.ts';
import { createIds } from '../../author/state/id.ts';
import { extensionOf } from '../../core/file/mime-type.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { ProviderResponse } from '../../core/message/provider.ts';
import type { ProviderImage } from '../../core/message/provider-terms.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';

export interface AnswerImages {
  readonly attachments?: readonly AttachmentRef[];
  /** Why the images are missing: the rest of the answer is kept, since it has been paid for. */
  readonly lostImages?: string;
}

interface AnsweredRequest {
  readonly ref: StepRef;
  readonly context: Pick<StepContext, 'thread'>;
  readonly response: ProviderResponse;
}

export async function storeImages(
  { store, handover }: ActivityDependencies,
  { ref, context: { thread }, response }: AnsweredRequest,
) {
  const { images = [] } = response;
  if (images.length === 0) return go({});
  const files = images.map(toFile);
  try {
    const attachments = await retryWhileUnavailable(abortSignal(handover), () => {
      // Ids follow from the step, so each attempt stores the same files.
      const nextId = createIds(store, `${thread.id}:${ref.step}:image`);
      return storeAttachments({ store, threadId: thread.id, nextId }, files);
    });
    return go({ attachments });
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return go({ lostImages: error.message });
  }
}

function toFile({ data, mediaType, revisedPrompt }: ProviderImage, index: number) {
  const name = `image-${index + 1}${extensionOf('', mediaType)}`;
  return { name, mimeType: mediaType, data, ...(revisedPrompt ? { description: revisedPrompt } : {}) };
}
