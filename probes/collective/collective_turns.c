/* SPDX-License-Identifier: MIT */
/* Broadcasts in turns, as factorizations over several GPUs have them: in the queues of all devices,
 * each by the next root. What one takes there, and what it costs the host to put it there. */
#include "collective_internal.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"

enum { FEW_TURNS = 8, MANY_TURNS = 24, PUT_BYTES = 1 << 16 };

static void put_turns(const struct work *work, int count)
{
	const struct nccl *nccl = &work->all->nccl;

	for (int turn = 0; turn < count; turn++) {
		collective_check_nccl(nccl, nccl->group_start(), "ncclGroupStart");
		for (int i = 0; i < work->gpus; i++) {
			const struct device *d = device_of(work, i);
			collective_check_nccl(nccl,
			        nccl->broadcast(d->target, d->target, (size_t)work->bytes / 4,
			                NCCL_UINT32, turn % work->gpus, work->all->comm[i],
			                d->stream),
			        work->route->series);
		}
		collective_check_nccl(nccl, nccl->group_end(), "ncclGroupEnd");
	}
}

static void wait_for_all(const struct work *work)
{
	for (int i = 0; i < work->gpus; i++)
		wait_for(device_of(work, i));
}

/* The first device has the data. The first turns connect the devices. */
static void prepare_turns(const struct work *work)
{
	const struct device *first = device_of(work, 0);

	collective_spoil_targets(work);
	use(first);
	GPU(cudaMemcpyAsync(first->target, first->source, (size_t)work->bytes,
	        cudaMemcpyDeviceToDevice, first->stream));
	put_turns(work, work->gpus);
	wait_for_all(work);
}

/* Behind holds: until all are put, and from there until all are done. False when a hold has ended
 * too early. */
static bool time_turns(const struct work *work, int count, double *put, double *done)
{
	bool held = true;

	for (int i = 0; i < work->gpus; i++) {
		use(device_of(work, i));
		gpu_hold_start(device_of(work, i)->hold, device_of(work, i)->stream);
	}
	const double start = clock_now();
	put_turns(work, count);
	const double released = clock_now();
	for (int i = 0; i < work->gpus; i++)
		gpu_hold_release(device_of(work, i)->hold);
	wait_for_all(work);
	*put = released - start;
	*done = clock_now() - released;
	for (int i = 0; i < work->gpus; i++)
		held = held && gpu_hold_ok(device_of(work, i)->hold);
	return held;
}

static bool turns_sample(void *argument, struct sample *sample)
{
	const struct work *work = argument;
	double put, few = 0, many = 0;

	*sample =
	        (struct sample){.agreed = time_turns(work, FEW_TURNS, &put, &few) &&
	                                  time_turns(work, MANY_TURNS, &put, &many) && many > few};
	sample->seconds = (many - few) / (MANY_TURNS - FEW_TURNS);
	return true;
}

/* The host's share of a call, for one device. */
static bool puts_sample(void *argument, struct sample *sample)
{
	const struct work *work = argument;
	double put = 0, done;

	*sample = (struct sample){.agreed = time_turns(work, MANY_TURNS, &put, &done)};
	sample->seconds = put / (MANY_TURNS * work->gpus);
	return true;
}

const struct route collective_turns = {
        "turns", "gpus", NULL, prepare_turns, collective_check_broadcast, turns_sample};

void collective_measure_puts(struct collective *all, int gpus)
{
	static const struct route puts = {
	        "puts", "gpus", NULL, prepare_turns, collective_check_broadcast, puts_sample};
	struct work work = {.all = all, .route = &puts, .gpus = gpus, .bytes = PUT_BYTES};

	collective_measure_point(&work, PUT_BYTES, gpus);
}
