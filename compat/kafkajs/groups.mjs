// Members of groups, and groups as operators see them.

import kafkajs from 'kafkajs'
import { Cannot, text } from './adapter.mjs'

const { AssignerProtocol } = kafkajs
const members = new Map()

export const cannot = {
  forget: 'delete positions of a group'
}

class Member {
  partitions = []
  taken = []
  read = []
  error = null
  generation = null

  constructor (consumer) {
    this.consumer = consumer
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.partitions = Object.entries(payload.memberAssignment).flatMap(([topic, ps]) => ps.map(p => [topic, p]))
      this.generation = payload.memberId
    })
    consumer.on(consumer.events.REBALANCING, () => this.lost())
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      this.lost()
      this.error = payload.restart ? null : payload.error.message
    })
  }

  lost () {
    this.taken.push(...this.partitions)
    this.partitions = []
  }

  async start (topics) {
    await this.consumer.connect()
    await this.consumer.subscribe({ topics, fromBeginning: true })
    await this.consumer.run({
      autoCommit: false,
      eachMessage: async ({ topic, partition, message }) => {
        this.read.push([topic, partition, Number(message.offset), text(message.value)])
      }
    })
  }

  told () {
    const { partitions, taken, read, error, generation } = this
    return { partitions, taken, read, error, generation }
  }
}

export function memberAsks (kafka, withAdmin) {
  return {
    join: async ({ member, group, topics, protocol, session_ms: sessionTimeout, assignor, instance }) => {
      if (protocol !== 'classic') {
        throw new Cannot('speak the consumer group protocol (KIP-848)')
      }
      if (assignor) {
        throw new Cannot('rebalance cooperatively')
      }
      if (instance) {
        throw new Cannot('be a static member')
      }
      const how = { groupId: group, sessionTimeout, rebalanceTimeout: 10_000, heartbeatInterval: 300, maxWaitTimeInMs: 100 }
      const retry = { initialRetryTime: 200, maxRetryTime: 500, retries: 100 }
      const joined = new Member(kafka.consumer({ ...how, retry, allowAutoTopicCreation: false }))
      joined.group = group
      members.set(member, joined)
      await joined.start(topics)
    },
    member: ({ member }) => members.get(member).told(),
    commit: ({ member, positions }) => members.get(member).consumer.commitOffsets(positions.map(
      ([topic, partition, offset, metadata]) => ({ topic, partition, offset: String(offset), metadata }))),
    committed: ({ member, of }) => withAdmin(async admin => {
      const topics = [...new Set(of.map(([topic]) => topic))]
      const told = await admin.fetchOffsets({ groupId: members.get(member).group, topics })
      return of.map(([topic, partition]) => [topic, partition, ...position(told, topic, partition)])
    }),
    leave: ({ member }) => members.get(member).consumer.disconnect()
  }
}

function position (told, topic, partition) {
  const found = told.find(t => t.topic === topic)?.partitions.find(p => p.partition === partition)
  return found ? [Number(found.offset), found.metadata ?? ''] : [-1, '']
}

export function groupAsks (withAdmin) {
  return {
    groups: () => withAdmin(async admin => (await admin.listGroups()).groups.map(g => [g.groupId, g.protocolType])),
    group: ({ group }) => withAdmin(async admin => {
      const { groups: [found] } = await admin.describeGroups([group])
      if (found.errorCode) {
        throw Object.assign(new Error(group), { code: found.errorCode })
      }
      return { state: found.state, kind: found.protocolType, protocol: found.protocol, members: found.members.map(shown) }
    }),
    group_positions: ({ group }) => withAdmin(async admin => (await admin.fetchOffsets({ groupId: group })).flatMap(
      ({ topic, partitions }) => partitions.map(p => [topic, p.partition, Number(p.offset), p.metadata ?? '']))),
    move: ({ group, positions }) => withAdmin(async admin => {
      for (const [topic, partition, offset, metadata] of positions) {
        if (metadata) {
          throw new Cannot('add metadata to a position that an operator sets')
        }
        await admin.setOffsets({ groupId: group, topic, partitions: [{ partition, offset: String(offset) }] })
      }
    }),
    delete_group: ({ group }) => withAdmin(admin => admin.deleteGroups([group]))
  }
}

function shown (member) {
  const assigned = AssignerProtocol.MemberAssignment.decode(member.memberAssignment)?.assignment ?? {}
  const partitions = Object.entries(assigned).flatMap(([topic, ps]) => ps.map(p => [topic, p]))
  return { client: member.clientId, host: member.clientHost, partitions }
}
