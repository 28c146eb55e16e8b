"""Trajectories and communities that leave: learned with a guarantee, paid for before a row is read."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.release.trajectories._attacking import attack_trajectories
    from ziggurat.release.trajectories._communities import CommunityRelease, plan_communities, release_communities
    from ziggurat.release.trajectories._files import TrajectoryFile
    from ziggurat.release.trajectories._released import TrajectoryRelease, plan_trajectories, release_trajectories
    from ziggurat.release.trajectories._request import GroundRequest, VisitRequest
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_attacking": "attack_trajectories",
            "_communities": "CommunityRelease plan_communities release_communities",
            "_files": "TrajectoryFile",
            "_released": "TrajectoryRelease plan_trajectories release_trajectories",
            "_request": "GroundRequest VisitRequest",
        },
    )

__all__ = [
    "CommunityRelease",
    "GroundRequest",
    "TrajectoryFile",
    "TrajectoryRelease",
    "VisitRequest",
    "attack_trajectories",
    "plan_communities",
    "plan_trajectories",
    "release_communities",
    "release_trajectories",
]
